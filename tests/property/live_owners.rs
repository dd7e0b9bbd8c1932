//! Which owners a live-owner list names, which it may mean in another spelling, and which it does not.

use jobdoctor::model::{HostSpelling, Owner};
use jobdoctor::policy::{LiveOwners, LiveOwnersError};

fn live_owners(text: &str) -> LiveOwners {
    LiveOwners::parse(text).unwrap()
}

fn owner(id: &str, host: Option<&str>) -> Owner {
    Owner {
        id: id.to_owned(),
        name: id.to_owned(),
        host: host.map(str::to_owned),
        host_spelling: HostSpelling::default(),
    }
}

/// How each kind of owner is written, and by which entries it is meant.
#[test]
fn on_the_list() {
    let cases = [
        ("web1", "web1:4211", Some("web1")),
        ("web1", "web1", Some("web1")),
        ("WEB1", "web1:4211", Some("web1")),
        ("web1", "WEB1:4211", Some("WEB1")),
        ("web1:4211", "web1:4211", Some("web1")),
        ("web1:4211", "web1.example.com:4211", Some("web1.example.com")),
        ("web1:4211", "web1:4211:thread-3", Some("web1")),
        ("web1:12", "host:web1 pid:12", Some("web1")),
        ("web1:4211", "web1", Some("web1")),
        ("web1.example.com", "web1:4211", Some("web1")),
        ("web1.example.com.", "web1:4211", Some("web1")),
        ("web1", "web1.example.com:4211", Some("web1.example.com")),
        ("web1.example.com", "web1_example_com_2026_11_20T10_00_00_000000", Some("web1_example_com")),
        ("web1", "web1_example_com_2026_11_20T10_00_00_000000", Some("web1_example_com")),
        ("pod/web-7f9c-x2x4z", "web-7f9c-x2x4z:1", Some("web-7f9c-x2x4z")),
        ("default/pod/web-7f9c-x2x4z", "web-7f9c-x2x4z", None),
        ("3f0e8f5c-5d5e-4f9a-9a3e-0f5a3a0e7b11", "3F0E8F5C-5D5E-4F9A-9A3E-0F5A3A0E7B11", None),
        ("10.0.0.7", "10.0.0.7:4211", None),
        ("fe80::1", "fe80::1", None),
        // The preset names no host.
        ("web1", "web1-4211", None),
        ("web1:4211", "web1-4211", None),
        ("web-7", "web-7-4211", None),
        ("web1", "celery@web1", None),
        ("web1", "worker:web1:3", None),
        ("web1", "web1/3", None),
        ("web1", "web1#3", None),
        ("web1", "web1_3", None),
        ("web1.example.com", "web1:4211", None),
        ("worker 7 (blue)", "worker 7 (blue)", None),
        ("a/b", "a/b", None),
    ];
    for (entry, id, host) in cases {
        assert!(live_owners(entry).lists(&owner(id, host)), "{entry} means {id}");
    }
}

#[test]
fn not_on_the_list() {
    let cases = [
        ("web1", "web10:4211", Some("web10")),
        ("web1", "web10:4211", None),
        ("web10", "web1:4211", Some("web1")),
        ("web10", "web1:4211", None),
        ("web1", "web10", None),
        ("web1", "web1x", None),
        ("web1", "xweb1", None),
        ("web", "web1", None),
        ("web", "web-7f9c-x2x4z", None),
        ("web1:4211", "web1:4212", Some("web1")),
        ("web1:421", "web1:4211", Some("web1")),
        ("web1:1", "web1:4211", Some("web1")),
        ("web12:12", "web12:7", Some("web12")),
        ("web1:4211", "web1-4212", None),
        ("web1:4211", "web2:4211", None),
        ("web1:4211", "web2", Some("web2")),
        ("web1.a.example.com", "web1.b.example.com:1", Some("web1.b.example.com")),
        ("web.1", "web.10", None),
        ("web.1", "web.2:4", None),
        ("10.0.0.1", "10.0.0.10:4", None),
        ("10.0.0.1", "mail:10", None),
        ("10.0.0", "10.0.0.1", None),
        ("web-7", "web-7-12:44", Some("web-7-12")),
        ("pod/web-1", "pod:web-10", None),
        ("3", "33", None),
        ("web1", "web1*", None),
    ];
    for (entry, id, host) in cases {
        assert!(!live_owners(entry).lists(&owner(id, host)), "{entry} does not mean {id}");
    }
}

/// A pod's name may have 253 letters, its host's name 63.
#[test]
fn a_pod_whose_name_is_too_long_for_a_host() {
    let pod = format!("pod/{}-x7k2p", "a".repeat(60));
    let host = "a".repeat(60) + "-x7";
    assert!(live_owners(&pod).lists(&owner(&format!("{host}:1"), Some(host.as_str()))));
    let pod = format!("pod/{}-x7k2p", "a".repeat(62));
    assert!(live_owners(&pod).lists(&owner(&"a".repeat(62), None)), "a hyphen at the end is dropped too");
}

#[test]
fn what_is_in_the_list() {
    let live_owners = live_owners("\u{feff}# living\r\n\r\n  pod/web-1 \r\nweb-2\r\n\tweb-1:7\nweb-2\n");
    assert_eq!((live_owners.count(), live_owners.examples()), (3, vec!["pod/web-1", "web-1:7", "web-2"]));
    assert!(live_owners.unread().is_empty());
    assert!(live_owners.lists(&owner("web-1:99", Some("web-1"))));
    for line in ["web-2 # rack 4", "web-2   1/1   Running   0   3d", "web-2,", "\"web-2\"", "pod/web-2\tx"] {
        assert!(self::live_owners(line).lists(&owner("web-2:99", Some("web-2"))), "{line}");
    }
    // One line of `kubectl get pods -o jsonpath='{.items[*].metadata.name}'`, and other programs' lists.
    for line in [
        "web-1 web-2 web-3",
        "web-1,web-2;web-3",
        "[\"web-1\", \"web-2\", \"web-3\"]",
        "{\"workers\":[\"web-1\",\"web-2\",\"web-3\"]}",
        "{'web-1':{},'web-2':{},'web-3':{}}",
        "hosts=web-1|web-2|web-3",
        "web-1: up web-2: up web-3:",
    ] {
        for name in ["web-1", "web-2", "web-3"] {
            assert!(self::live_owners(line).lists(&owner(&format!("{name}:99"), Some(name))), "{line} names {name}");
        }
    }
    assert_eq!(self::live_owners("web-1\n----\n[]\n").unread(), [2, 3]);
    // River cuts its host's name at 60.
    let long = "checkout-worker-production-eu-central-1-7d9f8b6c5d-abcde-x2x4";
    assert!(self::live_owners(&format!("pod/{long}")).lists(&owner("x", long.get(..60))));
    assert!(!self::live_owners(&format!("pod/{long}")).lists(&owner("x", long.get(..50))));
    for text in ["", "\n\n", "# nobody\r\n", "   \t"] {
        assert_eq!(LiveOwners::parse(text).unwrap_err(), LiveOwnersError::Empty);
    }
    assert_eq!(
        LiveOwners::parse("NAME   READY   STATUS\nweb-1   1/1   Running\n").unwrap_err(),
        LiveOwnersError::Titles
    );
    assert!(LiveOwners::parse("NAME\n").is_ok(), "an owner may have that name");
}

/// Mutants: one matches by prefix and takes web10 for web1, one reads the first word of each line.
#[test]
fn a_bare_prefix_and_a_first_word_would_be_caught() {
    let first = |text: &str| text.split([' ', '\t', ',']).next().unwrap().to_owned();
    for text in ["web1 web2", "web1\tweb2", "web1, web2"] {
        let web2 = owner("web2:7", Some("web2"));
        assert!(live_owners(text).lists(&web2) && !live_owners(&first(text)).lists(&web2), "{text:?}");
    }
    let bare_prefix = |entry: &str, id: &str| id.starts_with(entry);
    assert!(bare_prefix("web1", "web10:4211") && !live_owners("web1").lists(&owner("web10:4211", Some("web10"))));
    assert!(bare_prefix("web1:421", "web1:4211") && !live_owners("web1:421").lists(&owner("web1:4211", Some("web1"))));
}

/// What the list may mean, and what it does not say: an owner that works may be spelled so.
#[test]
fn what_resembles_an_entry() {
    let id = "3f2a9c71b0de4f5566778899aabbccddeeff00112233445566778899aabbcc";
    let cases = [
        ("web1", "web1-a1b2c3d4"),
        ("web1", "web1a1b2"),
        ("web1", "prod-web1"),
        ("web1", "prod.web1.7f"),
        ("web1", "worker web1 blue"),
        ("web1", "job+web1+7"),
        ("web1", "web1~7"),
        ("web1", "web1\\7"),
        ("web1", "web1(7)"),
        ("web1", "<web1>"),
        ("web1", "`web1`"),
        ("web1", "{web1}-x"),
        ("web1", "[web1]-x"),
        ("web1", "'web1'-x"),
        ("web1", "\"web1\"-x"),
        ("web1", "%web1%"),
        ("web1", "WEB1-A1B2"),
        ("WEB1", "web1-a1b2"),
        ("STRASSE-7", "straße-7-x"),
        ("http://web1:8080/", "web1-a1b2"),
        ("https://user@web1:8080", "web1-a1b2"),
        ("web1-a1b2", "http://web1-a1b2:8080/path"),
        ("user@web1", "web1-a1b2"),
        ("web1-a1b2", "user@web1"),
        ("worker@3.service", "worker@3"),
        ("worker@3", "worker@3.service"),
        ("fe80::1", "fe80::1%eth0"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1]", "fe80::1-x"),
        ("pod/web-7f9c-x2x4z", "web-7f9c-x2x4z-12ab"),
        ("default/pod/web-7f9c", "web-7f9c-x2"),
        ("web-7f9c-x2x4z", "web-7f9c"),
        ("web1:4211", "web1-a1b2c3d4"),
        ("web1:4211", "web1"),
        ("(web1)", "web1_7f"),
        ("db", "db-7f"),
        ("7", "worker-7-a"),
        ("web1 web2 web3 cron1", "web2-a1b2c3d4"),
        ("web1   1/1   Running   0   3d", "web1-a1b2"),
        ("10.0.0.7   Ready", "10.0.0.7-a1b2"),
        ("a/web1", "b/web1"),
        ("web[1-3]", "web2"),
        ("web{1..3}:7", "web2-a"),
        ("prod/web*", "web12:7"),
        ("w?b1", "web1"),
        ("web-7f9c-12…", "web-7f9c-12ab34"),
        ("web-7f9c-1...", "web-7f9c-12ab34"),
        ("celery@web\\x2d2.service", "celery@web-2"),
        ("[\"w\\u00f6rk2\"]", "w\u{f6}rk2"),
        ("db1,\u{a0}db2", "db2:7"),
        ("db1\u{2003}db2", "db2-a"),
        ("db1\u{b}db2\u{85}db3", "db3"),
        ("db1\rdb2\r", "db2"),
        ("#2", "#2"),
        ("pod/web-7f9c-x2x4z", "prod/web-7f9c-x2x4z:12"),
        ("pod/web1", "web1:1"),
        ("pod/web1:12", "prod/web1:12"),
        ("pod/web1", "prod/web1/3"),
        ("caf\u{e9}-eins", "cafe\u{301}-eins"),
        ("cafe\u{301}-eins", "CAF\u{c9}-EINS:7"),
        ("\u{130}zmir-1", "izmir-1"),
        ("izmir-1", "\u{130}ZMIR-1"),
        ("\u{ff57}\u{ff45}\u{ff42}\u{ff11}", "web1:7"),
        ("we\u{200b}b\u{ad}1", "web1:7"),
        ("2001:db8::1", "2001:0db8:0:0:0:0:0:1"),
        ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1:4211"),
        ("2001:db8::1", "worker@[2001:0db8:0:0:0:0:0:1]:4211"),
        ("2001:db8::1", "http://[2001:0db8:0:0:0:0:0:1]:80/"),
        ("10.0.0.7", "::ffff:a00:7"),
        ("3f0e8f5c-5d5e-4f9a-9a3e-0f5a3a0e7b11", "{3F0E8F5C5D5E4F9A9A3E0F5A3A0E7B11}"),
        ("worker-3f0e8f5c5d5e4f9a9a3e0f5a3a0e7b11", "3f0e8f5c-5d5e-4f9a-9a3e-0f5a3a0e7b11"),
        ("3f0e8f55", "3f0e8f55-5d5e-4f9a-9a3e-0f5a3a0e7b11"),
        (&id[..12], id),
        (id, &id[..12]),
    ];
    for (entry, id) in cases {
        let list = live_owners(entry);
        for host in [None, Some(id)] {
            let owner = owner(id, host);
            assert!(list.lists(&owner) || list.resembled(&owner).is_some(), "{entry} may mean {id} on {host:?}");
        }
    }
    let list = live_owners("cron1\nweb1\n");
    assert_eq!(list.resembled(&owner("web1-a1b2c3d4", None)), Some("web1"));
    assert_eq!(list.resembled(&owner("web1-a1b2c3d4", Some("web1-a1b2c3d4"))), Some("web1"));
    let named = Owner { name: "web1-a1b2".to_owned(), ..owner("77e2", None) };
    assert_eq!(list.resembled(&named), Some("web1"), "by the name that people know it by");
    assert_eq!(list.resembled(&named), Some("web1"), "asked again");
}

#[test]
fn what_resembles_none() {
    let cases = [
        ("web1", "web10"),
        ("web1", "web10:7"),
        ("web10", "web1"),
        ("web-1", "web-10"),
        ("web-10", "web-1"),
        ("checkout-worker-1", "checkout-worker-11"),
        ("10.0.0.1", "10.0.0.10"),
        ("11-worker", "1-worker"),
        ("web1:4211", "web1:4212"),
        ("web1:421", "web1:4211"),
        ("celery@web1", "celery@web2"),
        ("worker1@web1", "worker2@web1"),
        ("web1/3", "web2/3"),
        ("a/web1:12", "b/web1:13"),
        ("pod/web1", "prod/web2:1"),
        ("2001:db8::1", "2001:0db8:0:0:0:0:0:2"),
        ("caf\u{e9}-eins", "cafe\u{301}-zwei"),
        ("web1.example.com", "web2.example.com"),
        ("db", "dbx-7"),
        ("db", "7-adb"),
        ("web1   1/1   Running   0   3d", "web2-0-1"),
        ("web1", "media1"),
        ("web1", "we"),
        ("fe80::1%eth0", "fe80::2%eth0"),
    ];
    for (entry, id) in cases {
        assert_eq!(live_owners(entry).resembled(&owner(id, None)), None, "{entry} does not mean {id}");
    }
}

/// An entry is a line, or a word of the only line.
#[test]
fn the_entries_of_an_owner() {
    let of = |text: &str, id: &str| {
        let list = live_owners(text);
        (list.entries_of(&owner(id, None)).len(), list.entries().len())
    };
    assert_eq!(of("web1\nweb2\n\n# web3\nweb1:7\n", "web1:7"), (2, 3));
    assert_eq!(of("web1 web2 web3", "web3:7"), (1, 3));
    assert_eq!(of("[\"web1\",\"web2\"]", "web2:7"), (1, 2));
    assert_eq!(of("web1 1/1 Running 3d\nweb2 1/1 Running 4d\n", "web2:7"), (1, 2));
    assert_eq!(of("web1\nweb1\nweb2\n", "web3"), (0, 2));
}
