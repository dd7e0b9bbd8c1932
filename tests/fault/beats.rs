//! A worker that sends heartbeats of some jobs, one after the other, until it is told to stop.

use crate::readme::statements::{HEARTBEAT, filled};
use crate::support::shop::Shop;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub(super) struct Beats {
    thread: JoinHandle<u64>,
    stop: Arc<AtomicBool>,
}

impl Beats {
    pub(super) fn of(shop: &Shop, jobs: RangeInclusive<u32>) -> Beats {
        let stop = Arc::new(AtomicBool::new(false));
        let (mut database, heartbeat) = (shop.connect(), shop.statements()[HEARTBEAT].clone());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut lost = 0;
            for id in jobs.cycle() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let sql = filled(&heartbeat, &[("id", &id.to_string()), ("owner", "web1:1"), ("token", "token")]);
                lost += u64::from(database(&sql).is_empty());
                std::thread::sleep(Duration::from_millis(2));
            }
            lost
        });
        Beats { thread, stop }
    }

    /// Has it stop; tells how often a job was not its own any more.
    pub(super) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("no statement of a worker fails")
    }
}
