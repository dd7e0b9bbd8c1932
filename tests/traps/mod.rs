//! What people were burnt by, each trap as a test. Those that are not here stand where their like do:
//!
//! | trap | tests |
//! | --- | --- |
//! | a job finishes, is claimed again or sends a heartbeat between the snapshot and the write | `traps::races::a_job_finishes_between_the_look_and_the_write`, `traps::races::a_job_is_claimed_again_between_the_look_and_the_write`, `traps::races::a_job_sends_a_heartbeat_between_the_look_and_the_write`; in every store and with everything else that may happen then, `conformance::guard::what_was_committed_before_the_write_stands` |
//! | of 500 rows one conflicts with a unique index | `queues::twin::of_500_orphans_one_has_a_waiting_twin`, `cli::refused::by_a_unique_key`, `conformance::refused::a_unique_key` |
//! | attempts at the maximum, above it, none, 0 | `traps::ends::attempts_at_above_and_without_a_maximum`, `conformance::actions::the_last_run_that_counts`, `conformance::actions::the_last_retry_that_counts` |
//! | a check on the attempts | `conformance::refused::a_check` |
//! | the owner's row is missing; the owner was restarted under its name after the claim; no owner though claimed | `conformance::owners::the_heartbeat_of_the_owner_decides`, `conformance::owners::what_an_absent_owner_means_is_the_presets_word` |
//! | a heartbeat in the future, NULL, text, epoch seconds or milliseconds, without a zone | `conformance::time::epoch_integers_on_sqlite`, `conformance::time::text_on_sqlite`, `conformance::time::native_times_on_postgres`, `conformance::time::zoneless_times_on_postgres`, `conformance::time::numbers_on_postgres`, `conformance::time::a_zoneless_column_without_its_zone_is_refused`, `files::misfits::no_number_where_numbers_are_declared` |
//! | the local clock is an hour off | `traps::clocks::the_local_clock_is_an_hour_off_the_database_and_the_verdict_is_the_same` |
//! | times without a zone, in another zone than UTC | `traps::zones::text_on_sqlite`, `traps::zones::timestamps_on_postgres`, `traps::zones::text_on_postgres`, `traps::zones::a_restart_sweep_believes_no_time_of_another_zone` |
//! | an owner's row that is compared otherwise than the application does, or is one of two | `traps::owner_rows::on_sqlite`, `traps::owner_rows::on_postgres` |
//! | a worker's clock is ahead | `incident::on_sqlite_the_page_moves_exactly_the_orphans`, `incident::on_postgres_the_page_moves_exactly_the_orphans` |
//! | 10,000 unreclaimable rows before one reclaimable row | `traps::crowds::ten_thousand_unreclaimable_rows_are_sorted_before_one_reclaimable_row` |
//! | a row locked by a worker's open transaction | `conformance::guard::an_open_transaction_holds_nobody_else_back`, `conformance::guard::where_one_writes_at_a_time_the_write_waits_its_turn` |
//! | SQLite: a WAL and a rollback journal | `conformance::readonly::whatever_a_writer_left_is_read_or_refused_and_stays` |
//! | SQLite: a writer keeps the lock | `files::locked::by_a_writer`, `files::locked::for_as_long_as_a_lock_is_waited_for` |
//! | SQLite: a read-only file, a missing file | `files::owners::what_may_only_be_read`, `files::damaged::what_is_not_there` |
//! | a read-only replica | `standby::writing::nothing_is_applied`, `cli::postgres::a_database_in_which_nothing_may_be_written` |
//! | a statement that takes too long | `cli::postgres::a_look_that_takes_too_long`, `cli::busy::a_look_that_takes_too_long` |
//! | a connection cut in the middle of a batch | `conformance::outcomes::a_commit_that_did_not_arrive_was_not_tried`, `conformance::outcomes::a_commit_whose_answer_was_lost_is_asked_for`, `conformance::outcomes::a_commit_that_nobody_can_be_asked_about_is_unknown` |
//! | sweeps in parallel | `cron::crowd::ten_sweeps_of_ten_hosts_come_to_one`, `traps::crowds::of_runs_in_parallel_the_effects_add_up_to_one_and_the_later_ones_say_so`, `conformance::crowd::doctors_over_the_same_steps_count_each_death_once` |
//! | a closed pipe | `cli::pipes::the_first_line_of_many`, `cli::pipes::what_was_to_be_done_is_done`, `fault::streams::a_report_that_goes_nowhere_changes_nothing` |
//! | no terminal, `NO_COLOR` | `cli::color::the_environment_is_asked_where_the_flag_is_silent`, `cli::color::machine_formats_have_none` |
//! | zero rows | `cli::documents::for_people`, `conformance::scan::an_empty_table_has_no_claims` |
//! | names with line breaks and emoji | `traps::ends::a_name_with_a_line_break_and_an_emoji`, `cli::inert::for_people` |
//! | exit codes: nothing stale, stale found, all applied, some skipped, refused by a cap, a bad flag, no database | `traps::ends::every_end_has_its_exit_code` |

mod clocks;
mod conflict_clause;
mod crowds;
mod ends;
mod owner_rows;
mod races;
mod zones;

use crate::support::proofs::{is_there, named, rows};

#[test]
fn every_trap_has_its_tests() {
    let names: Vec<&str> = rows(include_str!("mod.rs")).flat_map(|row| row.into_iter().flat_map(named)).collect();
    assert!(names.len() > 40, "{names:#?}");
    let missing: Vec<&str> = names.into_iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "the table names tests that are not there: {missing:#?}");
    for made_up in ["cli::pipes::no_such_test", "no::such::place", "traps::is_there"] {
        assert!(!is_there(made_up), "{made_up}");
    }
}
