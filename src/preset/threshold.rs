use super::queue::{Liveness, SilentAfter};
use std::time::Duration;

/// Instants before 2001-01-01T00:00:00Z are another unit read wrongly, not instants. In microseconds since the epoch.
pub const EARLIEST_MICROS: i64 = 978_307_200_000_000;

/// A lease that ends further ahead than this is implausible.
pub const LEASE_AHEAD: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long a source may be silent before that means death: the operator's word, else the row's, else the preset's. `None`
/// where nobody has said anything. A lease has no such threshold: its end is one.
///
/// One function for the judge and for the pre-filter, so that the two cannot differ.
pub fn silence_allowed(source: &Liveness, older: Option<Duration>, on_row: Option<Duration>) -> Option<Duration> {
    match (source.silent_after()?, older) {
        (_, Some(older)) => Some(older),
        (SilentAfter::Span(span), None) => Some(*span),
        (SilentAfter::Column(_), None) => on_row,
        (SilentAfter::Required, None) => None,
    }
}
