//! A fleet of workers on the reference schema, on either engine, at work or not.

use crate::support::shop::Shop;

/// One claim of the fleet. Ages lie half a unit away from where their words would change.
#[derive(Clone)]
pub struct At {
    pub queue: &'static str,
    pub kind: &'static str,
    pub owner: Option<String>,
    pub claimed: Option<i64>,
    pub beat: Option<i64>,
    pub deadline: Option<i64>,
}

/// A claim whose worker was last heard of so many seconds ago.
pub fn at(queue: &'static str, kind: &'static str, owner: &str, claimed: i64, beat: i64) -> At {
    At { queue, kind, owner: Some(owner.to_owned()), claimed: Some(claimed), beat: Some(beat), deadline: None }
}

/// Puts claims in; ids go on from what is there.
pub fn put(queue: &Shop, claims: &[At]) {
    let text =
        |text: &Option<String>| text.as_ref().map_or("NULL".to_owned(), |t| format!("'{}'", t.replace('\'', "''")));
    let time = |seconds: Option<i64>| seconds.map_or("NULL".to_owned(), |seconds| format!("{{ago {seconds}}}"));
    let row = |at: &At| {
        let (owner, times) = (text(&at.owner), [at.claimed, at.beat, at.deadline].map(time).join(", "));
        format!("('{}', '{}', 'RUNNING', {owner}, {times})", at.queue, at.kind)
    };
    for some in claims.chunks(200) {
        queue.sql(&format!(
            "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at, heartbeat_at, deadline_at) VALUES {}",
            some.iter().map(row).collect::<Vec<_>>().join(", ")
        ));
    }
}

/// The lines that stand above the table, with clocks taken out. Each is one line here: where a long one breaks depends on
/// whether its clocks say the day, which depends on the time of day.
#[track_caller]
pub fn diagnoses(queue: &Shop, more: &[&str]) -> String {
    let ran = queue.run(&[&["stale", "--summary"], more].concat()).exits(0);
    let whole = ran.whole();
    let text = whole.strip_prefix("[stdout]\n").unwrap_or_default();
    text.split("[stderr]").next().unwrap_or_default().replace("\n    ", " ")
}

/// The incident of the README: one host vanished, one kind hangs everywhere, and one is slow but healthy.
pub fn incident() -> Vec<At> {
    let mut claims = Vec::new();
    for n in 0..312 {
        let queue = if n < 300 { "web" } else { "mail" };
        claims.push(at(queue, "SendInvoice", &format!("host-7:{}", n % 5), 11_130 + n % 20, 7830 + n % 20));
    }
    for host in 0..6 {
        for n in 0..3 {
            claims.push(at("media", "ResizeVideo", &format!("host-{host}:1"), 11_130 + n, 10_950 + n));
        }
        for _ in 0..4 {
            claims.push(at("web", "SendInvoice", &format!("host-{host}:1"), 30, 3));
        }
        claims.push(at("reports", "MonthlyReport", &format!("host-{host}:2"), 20_000, 2));
    }
    claims
}
