//! More jobs than usual: whose they were.

use crate::support::shop::Shop;
use std::fs;

fn shop() -> Shop {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 4, "'web1:' || n", 600);
    shop.in_flight(5, 6, "'web2:' || n", 600);
    shop.in_flight(7, 7, "'web' || char(27) || '[31m:1'", 600);
    shop.in_flight(8, 8, "'web4:1'", 600);
    shop
}

#[test]
fn hosts_are_named_and_text_of_the_database_is_inert() {
    let shop = shop();
    let said = "that is more than 3: workers die often here (--warn-above): web1 lost 4, web2 lost 2, web\\x1b[31m lost 1, 1 \
                other 1";
    shop.run(&["sweep", "--warn-above", "3", "-o", "none"]).exits(0).says(said);
    let ran = shop.run(&["sweep", "--warn-above", "3", "-o", "none", "--apply"]).exits(0);
    ran.says(said);
    assert!(!ran.stderr.contains('\x1b'));
    // Owners without a name, and one whose name would be a line of its own.
    let shop = self::shop();
    shop.sql("UPDATE jobs SET owner_id = '' WHERE id < 3; UPDATE jobs SET owner_id = NULL WHERE id IN (3, 4)");
    shop.sql("UPDATE jobs SET owner_id = 'a' || char(10) || 'moved 9 of 9' WHERE id > 4");
    let said = "(--warn-above): (no owner) lost 4, a\\nmoved 9 of 9 lost 4";
    shop.run(&["sweep", "--warn-above", "3", "-o", "none"]).exits(0).says(said);
}

#[test]
fn what_is_no_number_of_jobs_is_told() {
    for bad in ["x", "-1", "1.5", "5m"] {
        let ran = shop().run(&["sweep", &format!("--warn-above={bad}")]).exits(2);
        ran.says("it is a number of jobs, in digits alone, as in 100");
    }
}

#[test]
fn it_is_part_of_the_paragraph_and_the_flag_beats_the_target() {
    let shop = shop();
    let config = "[target.app]\ndb = \"queue.db\"\nwarn_above = 7\n";
    fs::write(shop.doctor.path("c.toml"), config).expect("the config file");
    let run = |more: &[&str]| shop.doctor.run(&[&["sweep", "--config", "c.toml"], more].concat()).exits(0);
    assert!(!run(&["--warn-above", "8"]).stderr.contains("die often"));
    let ran = run(&["--apply"]);
    let said = "That is more than 7: workers die often here (warn_above of target app): web1 lost 4";
    assert!(ran.stdout.contains(said) && ran.stderr.is_empty(), "{ran:#?}");
}
