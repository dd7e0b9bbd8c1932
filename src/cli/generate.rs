//! Completions and manual pages, made from the arguments. They are committed; a test compares them.

use super::commands::command;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io;

/// The completion script of a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "jobdoctor", &mut script);
    script
}

/// The manual pages: file name and roff text.
///
/// # Errors
/// Never in practice: the pages are written to memory.
pub fn man_pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = command();
    root.build();
    let mut pages = Vec::new();
    let mut render = |name: String, command: clap::Command| -> io::Result<()> {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        pages.push((format!("{name}.1"), page));
        Ok(())
    };
    render("jobdoctor".to_owned(), root.clone())?;
    for sub in root.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("jobdoctor-{}", sub.get_name());
        // Leaked once a page: clap wants names that live as long as the program.
        let title: &'static str = Box::leak(name.clone().into_boxed_str());
        let usage = sub.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").to_owned();
        render(name, sub.clone().name(title).override_usage(usage).version(env!("CARGO_PKG_VERSION")))?;
    }
    Ok(pages)
}
