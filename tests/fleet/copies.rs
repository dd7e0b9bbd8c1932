//! Copies of the program, started at one instant: half of them reclaim, half of them sweep, each on a host of its own.

use crate::cron::host::on_host;
use crate::support::cli::Ran;
use crate::support::shop::Shop;
use serde_json::Value;

/// How many there are.
pub(super) const COPIES: usize = 8;

/// Starts them together, and waits for all. None has a limit to how many jobs it moves.
pub(super) fn at_once(shop: &Shop, format: &str) -> Vec<Ran> {
    let rest = ["--apply", "--max-jobs", "9999999", "-o", format, "--timeout", "10m"];
    let started: Vec<_> = (0..COPIES)
        .map(|n| {
            let command = if n % 2 == 0 { "reclaim" } else { "sweep" };
            let child = on_host(shop, n, &[&[command][..], &rest].concat()).spawn().expect("it starts");
            std::thread::spawn(move || Ran::of(child.wait_with_output().expect("it ends")))
        })
        .collect();
    started.into_iter().map(|thread| thread.join().expect("it is read")).collect()
}

/// What one of them says that it moved; `Err` if it ended in a way that nobody expects here, or does not say why it stood back.
pub(super) fn moved(ran: &Ran) -> Result<u64, String> {
    let odd = |what: &str| Err(format!("{what}: {} {}", ran.code, ran.stderr));
    match ran.code {
        // Others were at it: some of its steps may not have been tried, or were another one's by then.
        0 | 3 => {
            let document: Value =
                serde_json::from_str(&ran.stdout).map_err(|error| format!("{error}: {}", ran.stderr))?;
            let outcomes = document["summary"]["outcomes"].as_object().ok_or("no outcomes")?;
            let sum: u64 = outcomes.values().filter_map(Value::as_u64).sum();
            if document["summary"]["planned"] != sum {
                return odd("its outcomes do not add up");
            }
            Ok(outcomes["moved"].as_u64().unwrap_or_default())
        }
        75 => {
            let error: Value = serde_json::from_str(&ran.stderr).map_err(|error| format!("{error}: {}", ran.stderr))?;
            let message = error["message"].as_str().unwrap_or_default();
            match ["another sweep of", "another sweep is writing to", "locked"].iter().any(|who| message.contains(who))
            {
                true => Ok(0),
                false => odd("it does not say who is at work"),
            }
        }
        _ => odd("it ended in another way"),
    }
}
