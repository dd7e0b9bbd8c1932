//! The program on a ground, through a gate that knows the program.

use super::ground::Ground;
use crate::support::cli::{Ran, until};
use crate::support::gate::{Flight, Gate, Order};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::{Arc, Mutex, OnceLock};

#[derive(Clone, Default)]
pub(super) struct Program(Arc<OnceLock<Pid>>);

impl Program {
    /// Sends it a signal. It may have only just been started.
    pub(super) fn signal(&self, signal: Signal) {
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(300);
        while self.0.get().is_none() && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        kill_process(*self.0.get().expect("a program that was started"), signal).expect("send a signal");
    }
}

pub(super) struct Through<'g> {
    ground: &'g Ground,
    gate: Gate,
    program: Program,
    flights: Arc<Mutex<Vec<String>>>,
}

impl<'g> Through<'g> {
    pub(super) fn of(
        ground: &'g Ground,
        ask: impl Fn(&Flight<'_>, &Program) -> Order + Send + Sync + 'static,
    ) -> Through<'g> {
        let (program, flights) = (Program::default(), Arc::new(Mutex::new(Vec::new())));
        let (known, seen) = (program.clone(), flights.clone());
        let gate = Gate::before(ground.shop.server().socket(), move |flight| {
            if !flight.is_answered {
                seen.lock().expect("the list").push(flight.statement());
            }
            ask(flight, &known)
        });
        Through { ground, gate, program, flights }
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        let url = self.ground.shop.server().url_through(&self.gate.socket());
        let running = self.ground.shop.doctor.start(&[arguments, &["--db", &url]].concat());
        self.program.0.set(running.pid()).expect("one program a gate");
        running.wait()
    }

    pub(super) fn flights(&self) -> Vec<String> {
        self.flights.lock().expect("the list").clone()
    }

    /// Waits until the server has noticed that the program is gone.
    pub(super) fn is_over(&self) {
        let mut client = self.ground.shop.client();
        let left =
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'jobdoctor%'";
        until("the server has noticed", || client.query(left, &[]).expect("ask the server").is_empty());
    }
}
