//! What the check of a fleet must see, each done by hand to one that passed well.

use super::Scene;
use super::check::wrongs;
use super::copies::at_once;
use super::workers::Log;
use crate::support::figures;
use crate::support::shop::on_both;

const SCENE: Scene = Scene { dead: 30, living: 12 };

/// What must not be, and how it is made.
const TWINS: [(&str, &str); 7] = [
    ("one living job goes back to the queue", "UPDATE jobs SET status = 'QUEUED', owner_id = NULL WHERE id = 31"),
    ("one living job has lost an attempt", "UPDATE jobs SET attempts = attempts + 1 WHERE id = 42"),
    ("one living job has another token", "UPDATE jobs SET lease_token = 'other' WHERE id = 35"),
    ("one death is counted twice", "UPDATE jobs SET attempts = 2 WHERE id = 1"),
    ("one death is left", "UPDATE jobs SET status = 'RUNNING', attempts = 0 WHERE id = 30"),
    ("one job is gone", "DELETE FROM jobs WHERE id = 7"),
    ("one is done that nobody has finished", "UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 33"),
];

#[test]
fn each_is_seen() {
    on_both(|shop| {
        SCENE.plant(shop);
        shop.open_to_many();
        let mut ended = at_once(shop, "json");
        let log = Log::default();
        assert_eq!(wrongs(shop, SCENE, &log, &ended), [""; 0]);
        shop.sql("CREATE TABLE kept AS SELECT * FROM jobs");
        for (what, sql) in TWINS {
            shop.sql(sql);
            assert_ne!(wrongs(shop, SCENE, &log, &ended), [""; 0], "{what}");
            shop.sql("DELETE FROM jobs; INSERT INTO jobs SELECT * FROM kept");
        }
        assert_eq!(wrongs(shop, SCENE, &log, &ended), [""; 0], "all is as it was");
        let lost = Log { lost: [31].into(), ..Log::default() };
        assert_ne!(wrongs(shop, SCENE, &lost, &ended), [""; 0], "a worker has lost a job");
        // Another one tells of a job that it has not moved, in numbers that add up.
        let told = ended.iter_mut().find(|ran| ran.code != 75).expect("one of them was at work");
        let mut document = told.json();
        for count in [["planned"].as_slice(), &["outcomes", "moved"]] {
            let number = count.iter().fold(&mut document["summary"], |value, name| &mut value[*name]);
            *number = (number.as_u64().expect("a number") + 1).into();
        }
        told.stdout = document.to_string();
        assert_ne!(wrongs(shop, SCENE, &log, &ended), [""; 0], "one is told twice");
        figures::add(TWINS.len() as u64 + 2, "mutants caught");
    });
}
