//! `--write`: the mapping is added to the config file, and the rest of the file stays byte for byte.

use super::draft::words;
use crate::support::shop::on_both;
use std::fs;

const CONFIG: &str = "# Ours; ask Kim before you change it.
default_target = 'look'   # single quotes, on purpose

[target.look]
db=\"elsewhere.db\"
   read_only   =   true

[mapping.other]   # half done
time = { default = 'epoch s' }
# the end\n";

#[test]
fn the_rest_of_the_config_file_stays() {
    on_both(|shop| {
        shop.sql(
            "DROP TABLE IF EXISTS jobs; CREATE TABLE print_queue (id integer PRIMARY KEY, status text NOT NULL, worker text, started {time});
             INSERT INTO print_queue VALUES (1, 'running', 'w', {ago 9000}), (2, 'running', 'w', {ago 3}), (3, 'waiting', NULL, NULL)",
        );
        let file = shop.doctor.path("jobdoctor.toml");
        fs::write(&file, CONFIG).unwrap();
        let flags = ["--config", "jobdoctor.toml", "--write"];
        // An open question: nothing is written.
        shop.run(&words("print_queue", &[], &flags)).exits(78);
        assert_eq!(fs::read_to_string(&file).unwrap(), CONFIG);

        let answers =
            ["states.in_flight=running", "states.waiting=waiting", "claim.liveness=age started 30m"].map(str::to_owned);
        let ran = shop.run(&words("print_queue", &answers, &flags)).exits(0);
        assert_eq!(ran.stdout.lines().last(), Some("# next: jobdoctor stale --target m"), "{}", ran.stdout);
        let written = fs::read_to_string(&file).unwrap();
        let mut kept = written.lines();
        assert!(CONFIG.lines().all(|line| kept.any(|written| written == line)), "{written}");
        assert_eq!(written.matches("[mapping.m.claim]").count(), 1, "{written}");
        let found = shop.doctor.run(&["stale", "-o", "name", "--config", "jobdoctor.toml", "--target", "m"]).exits(0);
        assert_eq!(found.stdout, "1\n");
        // Who names the database alone is told the mapping.
        shop.run(&["stale", "--config", "jobdoctor.toml"]).exits(78).says("--preset m");
    });
}
