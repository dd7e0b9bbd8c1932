//! A few threads that work through a list, with the results taken in the list's order.

use crate::cli::{CliError, Exit};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Targets that are processed at the same time.
const AT_ONCE: usize = 4;
/// How far the work may run ahead of the results that were taken: their output is buffered meanwhile.
const AHEAD: usize = 64;

/// Does `work` for the numbers below `count`, several at a time, and hands each result to `take`, in order. A panic is
/// a result. If no thread could be started, nothing was done.
pub(super) fn in_order<T: Send>(
    count: usize,
    work: &(impl Fn(usize) -> T + Sync),
    mut take: impl FnMut(usize, thread::Result<T>),
) -> Result<(), CliError> {
    let (numbers, queue) = channel::<usize>();
    let (done, results) = channel();
    let queue = Mutex::new(queue);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let worker = &|done: Sender<(usize, thread::Result<T>)>| {
        while let Ok(n) = next() {
            let _ = done.send((n, catch_unwind(AssertUnwindSafe(|| work(n)))));
        }
    };
    thread::scope(|scope| {
        // Dropped at the end, which ends the workers.
        let numbers = numbers;
        for n in 0..AT_ONCE.min(count) {
            let done = done.clone();
            match thread::Builder::new().spawn_scoped(scope, move || worker(done)) {
                Ok(_) => {}
                Err(error) if n == 0 => {
                    return Err(CliError::new(Exit::Internal, format!("no thread could be started: {error}")));
                }
                // Fewer threads only take longer.
                Err(_) => break,
            }
        }
        let begin = |n: usize| {
            if n < count {
                let _ = numbers.send(n);
            }
        };
        (0..AHEAD).for_each(begin);
        let mut waiting = BTreeMap::new();
        for n in 0..count {
            while !waiting.contains_key(&n)
                && let Ok((other, result)) = results.recv()
            {
                waiting.insert(other, result);
            }
            if let Some(result) = waiting.remove(&n) {
                take(n, result);
            }
            begin(n + AHEAD);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn results_come_in_order_and_a_panic_stops_no_other() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |n: usize| {
            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::yield_now();
            now.fetch_sub(1, SeqCst);
            assert!(n != 7, "the seventh is broken");
            n * 10
        };
        let mut results = Vec::new();
        in_order(300, &work, |n, result| results.push((n, result.ok()))).unwrap();
        let expected: Vec<_> = (0..300).map(|n| (n, (n != 7).then_some(n * 10))).collect();
        assert_eq!(results, expected);
        assert!(most.load(SeqCst) <= AT_ONCE);
    }

    #[test]
    fn several_run_at_the_same_time() {
        // Each waits for the others, so one at a time would never end.
        let meeting = std::sync::Barrier::new(AT_ONCE);
        in_order(AT_ONCE, &|_| meeting.wait(), |_, result| assert!(result.is_ok())).unwrap();
    }

    #[test]
    fn work_runs_only_so_far_ahead_of_the_taken_results() {
        let (begun, held) = (AtomicUsize::new(0), Mutex::new(()));
        let guard = held.lock().unwrap();
        let mut guard = Some(guard);
        thread::scope(|scope| {
            let (begun, held) = (&begun, &held);
            let all = scope.spawn(move || {
                let work = |n: usize| {
                    begun.fetch_add(1, SeqCst);
                    // The first one blocks until the test releases it.
                    drop((n == 0).then(|| held.lock()));
                };
                in_order(AHEAD * 3, &work, |_, _| {})
            });
            while begun.load(SeqCst) < AHEAD {
                thread::yield_now();
            }
            for _ in 0..1000 {
                thread::yield_now();
            }
            let ahead = begun.load(SeqCst);
            // Before the assertion: its failure would leave the pool blocked.
            drop(guard.take());
            assert_eq!(ahead, AHEAD);
            all.join().unwrap().unwrap();
        });
        assert_eq!(begun.load(SeqCst), AHEAD * 3);
    }
}
