//! The driver's client, driven by the thread that uses it: several requests may be on their way at once.

use ::postgres::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Socket};

pub(super) struct Driver {
    runtime: Runtime,
    client: Client,
    messages: Messages,
}

/// Moves messages between the client and the server; ready with an error once the connection is lost.
type Messages = Box<dyn FnMut(&mut Context<'_>) -> Poll<Result<(), Error>> + Send>;

/// Why there is no connection.
pub(super) enum Unconnected {
    System(std::io::Error),
    Server(Error),
}

impl Driver {
    pub(super) fn connect<T>(config: &Config, tls: T) -> Result<Driver, Unconnected>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
        T::TlsConnect: TlsConnect<Socket>,
    {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Unconnected::System)?;
        let (client, mut connection) = runtime.block_on(config.connect(tls)).map_err(Unconnected::Server)?;
        let messages = move |context: &mut Context<'_>| {
            loop {
                match connection.poll_message(context) {
                    // Notices are for people at a prompt.
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                    Poll::Ready(None) => return Poll::Ready(Ok(())),
                    Poll::Pending => return Poll::Pending,
                }
            }
        };
        Ok(Driver { runtime, client, messages: Box::new(messages) })
    }

    /// Runs `work` to its end. The error of a lost connection is the server's own, where it gave one.
    pub(super) fn run<T>(&mut self, work: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, Error> {
        let Driver { runtime, client, messages } = self;
        let mut work = pin!(work(client));
        runtime.block_on(poll_fn(|context| {
            if let Poll::Ready(Err(error)) = messages(context) {
                return Poll::Ready(Err(error));
            }
            work.as_mut().poll(context)
        }))
    }

    /// Says goodbye, which the connection does once its client is gone.
    pub(super) fn close(self) {
        let Driver { runtime, client, mut messages } = self;
        drop(client);
        let _ = runtime.block_on(poll_fn(|context| messages(context)));
    }
}
