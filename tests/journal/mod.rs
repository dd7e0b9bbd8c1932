//! Record and undo, through the program itself: what a run leaves behind for who comes later, and what of it can be taken back.

mod databases;
mod exact;
mod files;
mod full;
mod handover;
mod history;
mod killed;
mod latest;
mod ledger;
mod queue;
mod reason;
mod refusals;
mod required;
mod touched;
