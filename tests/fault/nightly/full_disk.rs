//! A disk that is really full (F28): the file's on SQLite; on Postgres that of the table, and that of everything. And one that
//! seems to be, at more of the writes than by day.

use crate::fault::full_disk::at_every_write;
use crate::fault::many::{Many, RECLAIM};
use crate::support::figures;
use crate::support::postgres::Cluster;
use crate::support::shop::Shop;
use crate::support::tmpfs::SmallDisk;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

const DEAD: u32 = 1_600;

/// Of the writes of a run, one in so many is refused.
const STEP: usize = 3;

/// How many bytes are left, from none to more than a run takes.
fn rooms() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0), |room| Some(room * 3 / 2 + 16 * 1024)).take_while(|room| *room < 8 << 20)
}

#[test]
fn of_a_file() {
    for mode in ["wal", "delete"] {
        let shop = Shop::on_sqlite();
        let disk = SmallDisk::on(&shop.doctor.path(""), 24, "that a run survives a file whose disk is full");
        let Some(disk) = disk else { return };
        shop.run(&["init"]).exits(0);
        shop.connect()(&format!("PRAGMA journal_mode = {mode}"));
        let many = Many::in_queue(shop, DEAD);
        // It goes before the directory that it lies on.
        let disk = disk;
        let (mut faults, mut middle) = (0, 0);
        for room in rooms() {
            many.again();
            many.shop.connect()("PRAGMA wal_checkpoint(TRUNCATE)");
            disk.fill(room);
            let ran = many.shop.run(&RECLAIM);
            disk.empty();
            let standing = many.standing().unwrap_or_else(|wrong| panic!("{mode}, {room}: {wrong}"));
            many.is_honest(&ran, standing);
            if ran.code == 0 {
                break;
            }
            assert_eq!(ran.code, 69, "{mode}, {room}: {ran:#?}");
            middle += u32::from(standing.is_in_the_middle());
            many.converges();
            faults += 1;
        }
        assert!(faults > 3 && middle > 0, "{mode}: {faults} faults, {middle} in the middle");
        figures::add(faults, "faults survived");
    }
}

/// The server itself goes on: it has room for what it writes about its own work.
#[test]
fn of_a_table() {
    let Some(disk) = SmallDisk::of(48, "that a run survives a table whose disk is full") else { return };
    let cluster = Cluster::start(5432, &[], |data| {
        let owner = fs::metadata(data).expect("the data directory");
        chown(disk.path(), Some(owner.uid()), Some(owner.gid())).expect("give the disk to the server");
    });
    let shop = Shop::on(cluster.fresh());
    // As two statements: none of the two may be part of a transaction with another.
    shop.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", disk.path().display()));
    shop.sql(&format!("ALTER DATABASE {} SET default_tablespace = small", shop.server().name()));
    let many = Many::on(shop, DEAD);
    let (mut faults, mut middle) = (0, 0);
    for room in rooms() {
        many.again();
        many.shop.sql("VACUUM FULL jobs");
        many.shop.sql("VACUUM FULL jobdoctor_ledger");
        disk.fill(room);
        let ran = many.shop.run(&RECLAIM);
        disk.empty();
        many.is_over();
        let standing = many.standing().unwrap_or_else(|wrong| panic!("{room}: {wrong}"));
        many.is_honest(&ran, standing);
        if ran.code == 0 {
            break;
        }
        assert!(ran.code == 69 && ran.stderr.contains("53100"), "{room}: {ran:#?}");
        middle += u32::from(standing.is_in_the_middle());
        many.converges();
        faults += 1;
    }
    assert!(faults > 2 && middle > 0, "{faults} faults, {middle} in the middle");
    figures::add(faults, "faults survived");
}

#[test]
fn at_most_writes_into_a_wal() {
    at_every_write("wal", STEP);
}

#[test]
fn at_most_writes_with_a_rollback_journal() {
    at_every_write("delete", STEP);
}
