//! A password never stands in a unit, wherever it came from.

use crate::support::cli::{Doctor, Ran};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CANARY: &str = "hunter2";

fn private(path: &Path, text: String) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn none_is_printed() {
    let doctor = Doctor::new();
    private(&doctor.path("password"), format!("{CANARY}\n"));
    private(&doctor.home(".pgpass"), format!("*:*:*:*:{CANARY}\n"));
    let config = format!(
        "# once {CANARY}\n[target.url]\ndb = 'postgres://ops:{CANARY}@db/app'\n[target.words]\ndb = \"host=db dbname=app \
         password='{CANARY}'\"\n[target.file]\ndb = 'postgres://ops@db/app'\npassword_file = 'password'\n"
    );
    private(&doctor.path("c.toml"), config);
    let url = format!("postgres://ops:{CANARY}@db/app");
    for kind in ["systemd", "systemd --restart", "cron", "kubernetes --image i", "kubernetes --image i --restart"] {
        for target in ["url", "words", "file"] {
            let arguments = format!("generate {kind} --config c.toml --target {target}");
            let mut command = doctor.command(&arguments.split(' ').collect::<Vec<_>>());
            command.envs([("JOBDOCTOR_DB", &url[..]), ("DATABASE_URL", &url), ("PGPASSWORD", CANARY)]);
            let ran = Ran::of(command.output().unwrap()).exits(0);
            assert!(!format!("{ran:?}").contains(CANARY), "{arguments}: {ran:#?}");
        }
    }
}
