//! `--from-file`: jobs by a list, as a pipe makes it.

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::{Shop, on_both};
use std::io::Write;
use std::process::Stdio;

fn piped(doctor: &Doctor, arguments: &[&str], input: &str) -> Ran {
    let mut command = doctor.command(arguments);
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
            let ran = reclaim(shop, input).exits(0);
            assert!(ran.stderr.contains("nothing to do"), "{ran:#?}");
        }
        assert_eq!(shop.jobs(), before);
    });
}

#[test]
fn a_list_forces_nothing() {
    on_both(|shop| {
        queue(shop);
        let ran = reclaim(shop, "7\n1\n99\n").exits(3);
        assert!(ran.stderr.contains("no such job") && ran.stderr.contains("99"), "{ran:#?}");
        assert_eq!(shop.states()[0], "1 QUEUED 1");
        assert_eq!(shop.states()[4], "7 RUNNING 0");
    });
}

#[test]
fn a_list_that_is_none() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    queue(&shop);
    let before = shop.jobs();
    let ran = reclaim(&shop, "{\"type\":\"job\",\"id\":\"1\"}\n{\"jobs\": [\n").exits(2);
    assert!(ran.stderr.contains("line 2") && ran.stderr.contains("-o name"), "{ran:#?}");
    std::fs::write(shop.doctor.path("bytes"), b"1\n\xff\n").unwrap();
    let ran = shop.run(&["reclaim", "--from-file", "bytes", "--apply"]).exits(2);
    assert!(ran.stderr.contains("is not UTF-8 (line 2)"), "{ran:#?}");
    shop.run(&["reclaim", "--from-file", "none", "--apply"]).exits(66);
    shop.run(&["reclaim", "--from-file", ".", "--apply"]).exits(66);
    let both = reclaim_with(&shop, &["--alive-from", "-"], "1\n").exits(2);
    assert!(both.stderr.contains("cannot both read standard input"), "{both:#?}");
    assert_eq!(shop.jobs(), before);
}
