use super::{EmitArgs, GentleArgs, ReasonArgs, VerifyArgs};
use crate::cli::rules::to_be_switched_on;
use crate::model::Action;
use crate::policy::Rule;
use clap::Args;

/// What to do.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct ActArgs {
    /// Do it: without this, nothing is written
    #[arg(long, group = "writing")]
    pub apply: bool,
    /// Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was
    /// requested to cancel, all others to requeue
    #[arg(long, value_name = "ACTION", value_parser = parse_action)]
    pub to: Option<Action>,
    /// Act on this rule about trouble too, although the worker may still be running: deadline_passed,
    /// max_runtime or no_progress (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = parse_trouble)]
    pub rule: Vec<Rule>,
    /// Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake
    #[arg(long, value_name = "N")]
    pub max_jobs: Option<u64>,
    /// Apply, or print a script, only if the plan is still this one: the digest that the dry run printed, or its first 8
    /// digits or more
    #[arg(long, value_name = "DIGEST", requires = "writing", value_parser = parse_digest)]
    pub expect: Option<String>,
    #[command(flatten)]
    pub gentle: GentleArgs,
    #[command(flatten)]
    pub emit: EmitArgs,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
}

fn parse_action(text: &str) -> Result<Action, String> {
    // A claim cannot be woken: somebody holds it.
    let mut actions = Action::ALL.into_iter().filter(|action| *action != Action::Wake);
    actions.find(|action| action.name() == text).ok_or_else(|| "it is requeue, fail, cancel or time_out".to_owned())
}

fn parse_trouble(text: &str) -> Result<Rule, String> {
    if let Some((_, rule)) = to_be_switched_on().find(|(name, _)| *name == text) {
        return Ok(rule);
    }
    match Rule::ALL.into_iter().find(|rule| rule.name() == text) {
        Some(Rule::TooLong) => Err("too_long is always acted on; the config file says where it holds".to_owned()),
        Some(rule) => Err(format!("{rule} proves death and is always acted on")),
        None => {
            let known: Vec<&str> = to_be_switched_on().map(|(name, _)| name).collect();
            Err(format!("it is one of {}", known.join(", ")))
        }
    }
}

fn parse_digest(text: &str) -> Result<String, String> {
    let is_digest = (8..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit());
    if is_digest { Ok(text.to_ascii_lowercase()) } else { Err("a digest is 8 to 64 hexadecimal digits".to_owned()) }
}
