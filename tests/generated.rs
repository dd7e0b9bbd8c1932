//! Completions, manual pages and the pages of the presets are made by the program and committed; here they are compared. Run the tests with
//! JOBDOCTOR_BLESS=1 to write them anew.

use clap_complete::Shell;
use jobdoctor::cli::{completions, man_pages, preset_pages};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn compare(folder: &str, files: Vec<(String, Vec<u8>)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    #[expect(clippy::disallowed_methods, reason = "a test is asked to bless through the environment")]
    let bless = std::env::var_os("JOBDOCTOR_BLESS").is_some();
    if bless {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder can be made");
        for (name, text) in &files {
            fs::write(folder.join(name), text).expect("the file can be written");
        }
    }
    for (name, text) in &files {
        let path = folder.join(name);
        let committed = fs::read(&path).unwrap_or_default();
        assert!(committed == *text, "{} is out of date: run the tests with JOBDOCTOR_BLESS=1", path.display());
    }
    let expected: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(&folder).expect("the folder can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(expected.contains(name.as_str()), "{} belongs to nothing", entry.path().display());
    }
}

#[test]
fn completions_are_up_to_date() {
    let shells = [
        (Shell::Bash, "jobdoctor.bash"),
        (Shell::Elvish, "jobdoctor.elv"),
        (Shell::Fish, "jobdoctor.fish"),
        (Shell::PowerShell, "_jobdoctor.ps1"),
        (Shell::Zsh, "_jobdoctor"),
    ];
    compare("completions", shells.map(|(shell, name)| (name.to_owned(), completions(shell))).to_vec());
}

#[test]
fn manual_pages_are_up_to_date() {
    compare("man", man_pages().expect("pages are written to memory"));
}

#[test]
fn pages_of_the_presets_are_up_to_date() {
    compare("docs/presets", preset_pages().expect("every built-in preset is sound"));
}
