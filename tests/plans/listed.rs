//! `--from-file`: jobs by a list, as a pipe makes it.

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::{Shop, on_both};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn piped(doctor: &Doctor, arguments: &[&str], input: &str) -> Ran {
    fed(&mut doctor.command(arguments), input)
}

/// A line as it is printed, typed into a shell, which gets that on its standard input.
fn typed(doctor: &Doctor, line: &str, input: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_jobdoctor")).parent().unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", line])
        .env_clear()
        .env("PATH", program)
        .env("HOME", doctor.home(""))
        .current_dir(doctor.path(""));
    fed(&mut command, input)
}

fn fed(command: &mut Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn reclaim(shop: &Shop, input: &str) -> Ran {
    reclaim_with(shop, &[], input)
}

fn reclaim_with(shop: &Shop, more: &[&str], input: &str) -> Ran {
    let arguments = [&["reclaim", "--from-file", "-", "--apply"], more].concat();
    piped(&shop.doctor, &shop.with_db(&arguments), input)
}

fn queue(shop: &Shop) {
    shop.in_flight(1, 4, "'web1:1'", 4000);
    shop.in_flight(7, 7, "'web2:1'", 1);
}

#[test]
fn what_stale_prints_goes_in() {
    on_both(|shop| {
        queue(shop);
        let names = shop.run(&["stale", "-o", "name"]).exits(0).stdout;
        let some: String = names.lines().filter(|id| *id != "3").map(|id| format!("{id}\n")).collect();
        reclaim(shop, &some).exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 RUNNING 0", "4 QUEUED 1", "7 RUNNING 0"]);
        let lines = shop.run(&["stale", "-o", "jsonl"]).exits(0).stdout;
        reclaim(shop, &lines).exits(0);
        assert_eq!(shop.states()[2], "3 QUEUED 1");
    });
}

/// The `grep` before it has found nothing: then nothing is meant, and not everything.
#[test]
fn an_empty_list_means_no_job() {
    on_both(|shop| {
        queue(shop);
        let before = shop.jobs();
        for input in ["", "\n \n", "{\"type\":\"head\"}\n{\"type\":\"summary\"}\n"] {
            reclaim(shop, input).exits(0).says("nothing to do");
        }
        assert_eq!(shop.jobs(), before);
    });
}

#[test]
fn a_list_forces_nothing() {
    on_both(|shop| {
        queue(shop);
        reclaim(shop, "7\n1\n99\n").exits(3).says("no such job").says("99");
        assert_eq!(shop.states()[0], "1 QUEUED 1");
        assert_eq!(shop.states()[4], "7 RUNNING 0");
    });
}

#[test]
fn a_list_that_is_none() {
    let shop = Shop::empty_on_sqlite();
    queue(&shop);
    let before = shop.jobs();
    reclaim(&shop, "{\"type\":\"job\",\"id\":\"1\"}\n{\"jobs\": [\n").exits(2).says("line 2").says("-o name");
    std::fs::write(shop.doctor.path("bytes"), b"1\n\xff\n").unwrap();
    shop.run(&["reclaim", "--from-file", "bytes", "--apply"]).exits(2).says("is not UTF-8 (line 2)");
    shop.run(&["reclaim", "--from-file", "none", "--apply"]).exits(66);
    shop.run(&["reclaim", "--from-file", ".", "--apply"]).exits(66);
    reclaim_with(&shop, &["--alive-from", "-"], "1\n").exits(2).says("cannot both read standard input");
    assert_eq!(shop.jobs(), before);
}

/// Standard input is used up by then, so the plan is saved first. The reason comes with both ways.
#[test]
fn what_is_printed_works_as_it_is_printed() {
    on_both(|shop| {
        queue(shop);
        let reason = ["--reason", "it's INC-42: host lost"];
        let after = |ran: &Ran, words: &str| {
            let line = ran.stderr.lines().find_map(|line| line.strip_prefix(words));
            line.unwrap_or_else(|| panic!("{words}: {ran:#?}")).to_owned()
        };
        let reason_of_last = || shop.run(&["history", "--json"]).exits(0).json()["runs"][0]["reason"].clone();
        let dry = [&["reclaim", "--from-file", "-"][..], &reason].concat();
        let dry = piped(&shop.doctor, &shop.with_db(&dry), "1\n2\n").exits(0);
        typed(&shop.doctor, &after(&dry, "to do exactly this, pipe the list again into: "), "1\n2\n").exits(0);
        assert_eq!(shop.states()[0], "1 RUNNING 0", "the plan is only saved");
        typed(&shop.doctor, &after(&dry, "and then: "), "").exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 RUNNING 0", "4 RUNNING 0", "7 RUNNING 0"]);
        assert_eq!(reason_of_last(), reason[1]);

        let dry = [&["reclaim", "--queue", "ma*", "--owner", "web1:*", "--limit", "1"][..], &reason].concat();
        let dry = shop.run(&dry).exits(0);
        typed(&shop.doctor, &after(&dry, "to do exactly this: "), "").exits(0);
        assert_eq!(shop.rows("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), ["2"]);
        assert_eq!(reason_of_last(), reason[1]);
    });
}

/// Refused by the brake: the commands that override it work as well.
#[test]
fn what_is_printed_overrides_the_brake() {
    on_both(|shop| {
        shop.in_flight(1, 30, "'web1:1'", 4000);
        let list: String = (1..=30).map(|id| format!("{id}\n")).collect();
        let refused = reclaim_with(shop, &["--verify", "1s", "--fast"], &list).exits(4);
        let lines: Vec<&str> = refused.stderr.lines().filter(|line| line.contains("jobdoctor reclaim ")).collect();
        let [save, apply] = lines.as_slice() else { panic!("{refused:#?}") };
        let command = |line: &str| line[line.find("jobdoctor ").unwrap()..].to_owned();
        typed(&shop.doctor, &command(save), &list).exits(0);
        shop.sql("DELETE FROM jobs WHERE id > 29");
        // One of the list is gone by then.
        typed(&shop.doctor, &command(apply), "").exits(3);
        assert_eq!(shop.rows("SELECT status, count(*) FROM jobs GROUP BY 1"), ["QUEUED 29"]);
    });
}
