//! The same on millions of rows, which a change cannot wait for.

#[test]
fn of_two_million_rows_none_is_read_in_vain_on_postgres() {
    super::postgres::of_millions();
}
