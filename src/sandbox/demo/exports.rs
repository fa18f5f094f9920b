//! The exports of the demo data.

use std::time::{Duration, SystemTime};

use super::{EXPORT_EMPTY, EXPORT_FINISHED, EXPORT_FINISHING, EXPORT_MIXED, EXPORT_RUNNING};
use crate::sandbox::exports::PlannedEntry;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The plans of a service that starts now.
pub(super) fn plans(now: SystemTime, finishing_takes: Duration) -> [(i64, Vec<PlannedEntry>); 5] {
    let entry = |ago: Duration, takes, rows, succeeds| {
        let starts = now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        PlannedEntry { starts, takes, rows, succeeds }
    };
    let mixed = vec![
        entry(2 * HOUR, 4 * MINUTE, 1_204, true),
        entry(HOUR, 2 * MINUTE, 0, false),
        entry(Duration::ZERO, DAY, 1_204, true),
    ];
    [
        (EXPORT_FINISHED, vec![entry(HOUR, 5 * MINUTE, 2_000, true)]),
        (EXPORT_RUNNING, vec![entry(Duration::ZERO, DAY, 2_000, true)]),
        (EXPORT_FINISHING, vec![entry(Duration::ZERO, finishing_takes, 2_000, true)]),
        (EXPORT_MIXED, mixed),
        (EXPORT_EMPTY, Vec::new()),
    ]
}
