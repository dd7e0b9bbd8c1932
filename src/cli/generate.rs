//! Completions and manual pages, made from the arguments, and the pages of the presets. They are committed; a test compares
//! them.

use super::commands::command;
use super::present::presets::{index, markdown};
use crate::ops;
use crate::spec::{Catalog, SpecError};
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
        render(name.clone(), titled(sub, &name))?;
        for below in sub.get_subcommands() {
            let name = format!("{name}-{}", below.get_name());
            render(name.clone(), titled(below, &name))?;
        }
    }
    Ok(pages)
}

/// A command under the title of its page.
fn titled(command: &clap::Command, name: &str) -> clap::Command {
    // Leaked once a page: clap wants names that live as long as the program.
    let title: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command.clone().name(title).override_usage(usage).version(env!("CARGO_PKG_VERSION"))
}

/// The pages of the built-in presets: file name and Markdown text.
///
/// # Errors
/// Never in a release: a test reads every preset.
pub fn preset_pages() -> Result<Vec<(String, Vec<u8>)>, SpecError> {
    let catalog = Catalog::built_in()?;
    let mut pages = vec![("README.md".to_owned(), index(&ops::presets(&catalog)?).into_bytes())];
    for preset in catalog.iter() {
        pages.push((format!("{}.md", preset.name), markdown(&ops::preset_page(preset)?).into_bytes()));
    }
    Ok(pages)
}
