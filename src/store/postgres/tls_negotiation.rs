//! The offer of TLS, which remembers whether the server took it.

use ::postgres::Socket;
use ::postgres::tls::{MakeTlsConnect, TlsConnect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the module.
#[derive(Clone)]
pub(super) struct TlsNegotiation<T> {
    tls: T,
    taken: Arc<AtomicBool>,
}

impl<T> TlsNegotiation<T> {
    /// An offer that nobody has taken yet.
    pub(super) fn of(tls: T) -> TlsNegotiation<T> {
        TlsNegotiation { tls, taken: Arc::default() }
    }

    /// True if a server took it, so that a handshake was begun.
    pub(super) fn was_taken(&self) -> bool {
        self.taken.load(Ordering::SeqCst)
    }
}

impl<T: MakeTlsConnect<Socket>> MakeTlsConnect<Socket> for TlsNegotiation<T> {
    type Stream = T::Stream;
    type TlsConnect = Taken<T::TlsConnect>;
    type Error = T::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, Self::Error> {
        Ok(Taken { tls: self.tls.make_tls_connect(host)?, taken: Arc::clone(&self.taken) })
    }
}

/// One handshake, if it comes to that.
pub(super) struct Taken<C> {
    tls: C,
    taken: Arc<AtomicBool>,
}

impl<C: TlsConnect<Socket>> TlsConnect<Socket> for Taken<C> {
    type Stream = C::Stream;
    type Error = C::Error;
    type Future = C::Future;

    fn connect(self, stream: Socket) -> Self::Future {
        self.taken.store(true, Ordering::SeqCst);
        self.tls.connect(stream)
    }
}
