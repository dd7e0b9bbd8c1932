//! The driver's client, driven by the thread that uses it, so that several requests may be on their way at once; and the
//! requests.

use super::value::{Bound, Raw};
use crate::model::Cell;
use crate::store::session::Answered;
use crate::store::sql::Statement;
use ::postgres::types::ToSql;
use ::postgres::{Error, Row, SimpleQueryMessage, SimpleQueryRow};
use futures_util::TryStreamExt as _;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, RowStream, Socket};

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

pub(super) type Answer = Vec<Vec<Cell>>;

/// Runs statements without parameters, and gives the rows of each one that has any, with their values as text.
pub(super) async fn answers(client: &Client, sql: &str) -> Result<Vec<Answer>, Error> {
    let mut answers: Vec<Answer> = Vec::new();
    for message in client.simple_query(sql).await? {
        match (message, answers.last_mut()) {
            (SimpleQueryMessage::RowDescription(_), _) => answers.push(Vec::new()),
            (SimpleQueryMessage::Row(row), Some(answer)) => {
                answer.push((0..row.len()).map(|n| text(&row, n)).collect());
            }
            _ => {}
        }
    }
    Ok(answers)
}

/// A value that arrived as text. In a database without an encoding it need not be UTF-8.
fn text(row: &SimpleQueryRow, n: usize) -> Cell {
    match row.try_get(n) {
        Ok(Some(text)) => Cell::Text(text.to_owned()),
        Ok(None) => Cell::Null,
        Err(_) => Cell::BrokenText(Vec::new()),
    }
}

/// Uses the unnamed statement: poolers keep no others.
pub(super) async fn rows(client: &Client, statement: &Statement) -> Result<RowStream, Error> {
    let bound: Vec<Bound<'_>> = statement.params.iter().map(Bound).collect();
    let typed = bound.iter().map(|param| (param as &(dyn ToSql + Sync), param.declared()));
    client.query_typed_raw(&statement.sql, typed.collect::<Vec<_>>()).await
}

pub(super) async fn answered(client: &Client, statement: &Statement) -> Result<Answered, Error> {
    let mut stream = pin!(rows(client, statement).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(cells(&row)?);
    }
    Ok(Answered { rows, touched: stream.rows_affected().unwrap_or(0) })
}

pub(super) fn cells(row: &Row) -> Result<Vec<Cell>, Error> {
    (0..row.len()).map(|n| row.try_get::<_, Raw>(n).map(|raw| raw.0)).collect()
}
