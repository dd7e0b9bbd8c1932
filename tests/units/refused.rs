//! What cannot be written for another program is an error, not a unit that fails at night.

use crate::support::cli::Doctor;

#[test]
fn with_a_sentence() {
    let doctor = Doctor::new();
    let config = "[target.a]\ndb = '/q.db'\n[target.none]\n[target.relative]\ndb = 'q.db'\n[target.\"a\\nb\"]\ndb = '/q.db'\n\
        [target.o]\noptions.x = 'password=hunter2'\n";
    std::fs::write(doctor.path("c.toml"), config).unwrap();
    let image = "kubernetes --image i --target";
    for (arguments, message) in [
        ("cron", "no target is named"),
        ("cron --target b", "there is no target `b`"),
        ("cron --target none", "target `none` has no `db`"),
        ("systemd --target relative", "has a relative path as `db`"),
        ("cron --target a --every 7m", "it must be a part of an hour or a day"),
        ("cron --target a --every 30s", "it must be a part of an hour or a day"),
        ("cron --target a --user a(b", "a user name is letters, digits"),
        ("cron --target a --program jobdoctor", "it must be an absolute path"),
        ("cron --target a --name A_b", "a name is 1 to 52 lower-case letters"),
        ("cron --target a\nb", "a unit cannot hold a control character"),
        ("cron --target a --program /usr/bin/a\u{2028}b", "a unit cannot hold a control character"),
        ("systemd --target a --worker w.service", "--restart"),
        ("systemd --target a --restart --every 5m", "cannot be used with"),
        ("systemd --target a --restart --worker ../w.service", "the name of a service"),
        ("kubernetes --target a", "--image"),
        (&format!("{image} o"), "looks like a password"),
        (&format!("{image} a --db /q.db"), "unexpected argument '--db'"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = doctor.run(&[&["generate"], &arguments[..], &["--config", "c.toml"]].concat()).exits(2);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:#?}");
        assert!(!ran.stderr.contains("hunter2"), "{ran:#?}");
    }
    doctor.run(&["generate", "cron"]).exits(2).says("write [target.NAME] with db = ").says("--target NAME");
    doctor.run(&["generate"]).exits(2);
}
