//! A few threads that work through a list, and one listener that hears of the results in order.

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many targets are asked at the same time.
const AT_ONCE: usize = 4;
/// How many may be ahead of the one that is told of next: what they have to say is kept meanwhile.
const AHEAD: usize = 64;

struct Board<T> {
    /// The next one to begin with.
    next: usize,
    /// How many were told of.
    told: usize,
    done: BTreeMap<usize, thread::Result<T>>,
}

/// Does `work` for the numbers below `count`, several at a time, and hands what came of each to `take`, in order. A panic is
/// one of the things that may come of it.
///
/// # Errors
/// When not a single thread could be started; then nothing was done.
pub(super) fn in_order<T: Send>(
    count: usize,
    work: &(impl Fn(usize) -> T + Sync),
    mut take: impl FnMut(usize, thread::Result<T>),
) -> Result<(), CliError> {
    let board = Mutex::new(Board { next: 0, told: 0, done: BTreeMap::new() });
    let (changed, board) = (&Condvar::new(), &board);
    let mine = || loop {
        let is_ahead = |board: &mut Board<T>| board.next < count && board.next >= board.told + AHEAD;
        let mut seen = changed.wait_while(locked(board), is_ahead).unwrap_or_else(PoisonError::into_inner);
        let n = seen.next;
        if n >= count {
            break;
        }
        seen.next += 1;
        drop(seen);
        let came = catch_unwind(AssertUnwindSafe(|| work(n)));
        locked(board).done.insert(n, came);
        changed.notify_all();
    };
    thread::scope(|scope| {
        let mut started = 0;
        for n in 0..AT_ONCE.min(count) {
            match thread::Builder::new().spawn_scoped(scope, mine) {
                Ok(_) => started += 1,
                Err(error) if n == 0 => {
                    return Err(CliError::new(Exit::Internal, format!("no thread could be started: {error}")));
                }
                // Fewer take longer, and no more.
                Err(_) => break,
            }
        }
        debug_assert!(started > 0 || count == 0);
        for n in 0..count {
            let is_not_done = |board: &mut Board<T>| !board.done.contains_key(&n);
            let mut seen = changed.wait_while(locked(board), is_not_done).unwrap_or_else(PoisonError::into_inner);
            let came = seen.done.remove(&n);
            drop(seen);
            if let Some(came) = came {
                take(n, came);
            }
            locked(board).told += 1;
            changed.notify_all();
        }
        Ok(())
    })
}

fn locked<T>(board: &Mutex<Board<T>>) -> MutexGuard<'_, Board<T>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn all_are_told_of_in_order_and_a_panic_stops_no_other() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |n: usize| {
            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::yield_now();
            now.fetch_sub(1, SeqCst);
            assert!(n != 7, "the seventh is broken");
            n * 10
        };
        let mut told = Vec::new();
        in_order(300, &work, |n, came| told.push((n, came.ok()))).unwrap();
        let expected: Vec<_> = (0..300).map(|n| (n, (n != 7).then_some(n * 10))).collect();
        assert_eq!(told, expected);
        assert!(most.load(SeqCst) <= AT_ONCE);
    }

    #[test]
    fn several_run_at_the_same_time() {
        // Each waits for the others, so one at a time would never end.
        let meeting = std::sync::Barrier::new(AT_ONCE);
        in_order(AT_ONCE, &|_| meeting.wait(), |_, came| assert!(came.is_ok())).unwrap();
    }

    #[test]
    fn nobody_runs_far_ahead_of_what_is_told() {
        let (begun, held) = (AtomicUsize::new(0), Mutex::new(()));
        let guard = held.lock().unwrap();
        let mut guard = Some(guard);
        thread::scope(|scope| {
            let (begun, held) = (&begun, &held);
            let all = scope.spawn(move || {
                let work = |n: usize| {
                    begun.fetch_add(1, SeqCst);
                    // The first one takes for ever, as long as the test wants.
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
            // First of all, or a failure would be waited for for ever.
            drop(guard.take());
            assert_eq!(ahead, AHEAD);
            all.join().unwrap().unwrap();
        });
        assert_eq!(begun.load(SeqCst), AHEAD * 3);
    }
}
