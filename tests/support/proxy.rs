//! A connection that breaks at the worst moment: a gate that cuts its clients off when a COMMIT passes.

use super::gate::{Gate, Order};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The server never sees it.
    BeforeTheServer,
    /// The server does it; its answer is lost.
    AfterTheServer,
    /// The server does it; instead of its answer comes a pooler's complaint, and a moment later the end.
    WithLastWords,
}

/// What PgBouncer says when it has lost the server in the middle of a statement.
const LAST_WORDS: &[u8] = b"E\0\0\0\x29SFATAL\0C08P01\0Mserver conn crashed?\0\0";

pub struct Proxy {
    gate: Gate,
    armed: Arc<AtomicBool>,
}

impl Proxy {
    /// Stands in front of the server in that directory. Cuts once; new connections afterwards pass only if `comes_back`.
    pub fn before(server: &Path, cut: Cut, comes_back: bool) -> Proxy {
        let armed = Arc::new(AtomicBool::new(true));
        let (admits, live, doomed) = (armed.clone(), armed.clone(), AtomicUsize::new(0));
        let gate = Gate::guarded(
            server,
            move || comes_back || admits.load(Ordering::SeqCst),
            move |flight| {
                if flight.is_answered {
                    return if doomed.load(Ordering::SeqCst) == flight.number { Order::Cut } else { Order::Pass };
                }
                if !flight.commits() || !live.swap(false, Ordering::SeqCst) {
                    return Order::Pass;
                }
                doomed.store(flight.number, Ordering::SeqCst);
                match cut {
                    Cut::BeforeTheServer => Order::Cut,
                    Cut::AfterTheServer => Order::Pass,
                    Cut::WithLastWords => Order::LastWords(LAST_WORDS),
                }
            },
        );
        Proxy { gate, armed }
    }

    pub fn socket(&self) -> PathBuf {
        self.gate.socket()
    }

    pub fn has_cut(&self) -> bool {
        !self.armed.load(Ordering::SeqCst)
    }
}
