//! What others can make of the program, and what they cannot: the section "Security" of README.md, claim by claim. S6, S10 and
//! S11 of the promise are shown here and in the tests that the section names.

mod hostile_file;
mod hostile_schema;
mod operators;
mod purity;
mod relations;
mod roles;
mod rows;
mod server;
mod sources;
mod statement;
mod surroundings;

use crate::support::proofs::{is_there, named};

#[test]
fn every_claim_has_its_tests() {
    let page = include_str!("../../README.md");
    let section =
        page.split("\n## Security\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let rows: Vec<&str> =
        section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| --- ")).collect();
    assert!(rows.len() > 8, "{rows:#?}");
    for row in rows.iter().skip(1) {
        assert!(!named(row).is_empty(), "a claim without a test: {row}");
    }
    let missing: Vec<&str> = rows.into_iter().flat_map(named).filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "the section names tests that are not there: {missing:#?}");
}

/// Each file of this area stands for a claim, so the section must know it.
#[test]
fn every_test_here_backs_a_claim() {
    let section = include_str!("../../README.md").split("\n## Security\n").nth(1).expect("the section");
    for module in
        ["hostile_file", "hostile_schema", "operators", "purity", "relations", "roles", "rows", "surroundings"]
    {
        assert!(section.contains(&format!("`security::{module}::")), "no claim rests on {module}");
    }
}
