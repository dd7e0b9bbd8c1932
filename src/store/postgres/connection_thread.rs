//! The line to a server: a thread that holds the connection and does what it is told, so that nobody waits for ever for a
//! server that has stopped answering.
//!
//! The driver waits for an answer without any limit of its own. The server's own limits end a statement in time, but not if
//! the server is frozen or the network swallows what it says.

use ::postgres::{Client, Error};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the line looks whether the caller still wants to wait.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a connection may take to be closed in good order.
const FAREWELL: Duration = Duration::from_millis(300);

type Task = Box<dyn FnOnce(&mut Client) + Send>;

/// See the module.
pub(super) struct ConnectionThread {
    tasks: Option<mpsc::Sender<Task>>,
    closed: mpsc::Receiver<()>,
}

/// The server did not answer, and nobody wanted to wait any longer. What became of what it was told is not known.
pub(super) struct Silence;

impl ConnectionThread {
    /// A line over a connection that stands.
    pub(super) fn over(mut client: Client) -> ConnectionThread {
        let (tasks, received) = mpsc::channel::<Task>();
        let (say, closed) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(task) = received.recv() {
                task(&mut client);
            }
            drop(client);
            // Nobody may be listening any more.
            let _ = say.send(());
        });
        ConnectionThread { tasks: Some(tasks), closed }
    }

    /// Does something with the connection, and waits for the end of it for as long as `goes_on` says. A line that was
    /// silent once is dead: nothing is put through it any more.
    pub(super) fn ask<T: Send + 'static>(
        &mut self,
        goes_on: impl Fn() -> bool,
        work: impl FnOnce(&mut Client) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, Silence> {
        let tasks = self.tasks.as_ref().ok_or(Silence)?;
        let (say, answer) = mpsc::channel();
        let task = Box::new(move |client: &mut Client| {
            // Whoever asked may have given up.
            let _ = say.send(work(client));
        });
        tasks.send(task).map_err(|_| Silence)?;
        let answered = wait(&answer, goes_on);
        if answered.is_none() {
            self.tasks = None;
        }
        answered.ok_or(Silence)
    }
}

impl Drop for ConnectionThread {
    fn drop(&mut self) {
        if self.tasks.take().is_some() {
            // A server that does not hear the good-bye notices by itself.
            let _ = self.closed.recv_timeout(FAREWELL);
        }
    }
}

/// Does something on a thread of its own and waits for it as long as `goes_on` says. A thread that is given up ends with the
/// process.
pub(super) fn aside<T: Send + 'static>(
    goes_on: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (say, answer) = mpsc::channel();
    thread::spawn(move || {
        let _ = say.send(work());
    });
    wait(&answer, goes_on)
}

fn wait<T>(answer: &mpsc::Receiver<T>, goes_on: impl Fn() -> bool) -> Option<T> {
    loop {
        match answer.recv_timeout(GLANCE) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) if goes_on() => {}
            Err(_) => return None,
        }
    }
}

/// An instant after which something is given up.
pub(super) fn until(duration: Duration) -> impl Fn() -> bool {
    let end = Instant::now().checked_add(duration);
    move || end.is_none_or(|end| Instant::now() < end)
}
