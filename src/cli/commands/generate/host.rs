use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use nix::unistd::{User, geteuid};

/// Where it runs, if that is a host like this one.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
pub(super) struct HostArgs {
    /// Who it runs as [default: who runs this]
    #[arg(long, value_name = "NAME", value_parser = parse_user)]
    user: Option<String>,
    /// Where the program is [default: where this one is]
    #[arg(long, value_name = "PATH", value_parser = parse_program)]
    pub(super) program: Option<String>,
}

impl HostArgs {
    /// Who it runs as.
    ///
    /// # Errors
    /// When that is who runs this, and has no name.
    pub(super) fn user(&self) -> Result<String, CliError> {
        let own = || User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
        let unnamed = || CliError::new(Exit::Usage, "who runs this has no name on this host").hint("say --user NAME");
        self.user.clone().or_else(own).ok_or_else(unnamed)
    }
}

fn parse_user(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && text.chars().all(inner) { Ok(text.to_owned()) } else { Err("it is no name of a user".to_owned()) }
}

fn parse_program(text: &str) -> Result<String, String> {
    let is_whole = text.starts_with('/') && !text.ends_with('/');
    if is_whole { Ok(text.to_owned()) } else { Err("it must be a whole path, such as /usr/bin/jobdoctor".to_owned()) }
}
