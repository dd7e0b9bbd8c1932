//! `adopt`: a home-made table becomes a mapping, and asks where a wrong guess would harm a living worker.

mod draft;
mod fixture;
mod hostile;
mod misfits;
mod nightly;
mod play;
mod rights;
mod terminal;
mod watched;
mod written;

#[test]
fn home_made_queues_on_sqlite() {
    play::all("sqlite");
}

#[test]
fn home_made_queues_on_postgres() {
    play::all("postgres");
}
