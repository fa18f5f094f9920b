//! Named lists of faults, in the form of [`super::form`].

use super::fault::Fault;
use crate::error::{Result, defect};

/// Each preset with its faults. The chances of a list are small enough that the default retries suffice.
pub(super) const PRESETS: [(&str, &str); 5] = [
    // A proxy that fails now and then, and connections that break.
    (
        "flaky",
        r#"[
            {"kind": "status", "status": 502, "content_type": "text/html", "probability": 0.15, "seed": 1,
             "body": "<html><body><h1>502 Bad Gateway</h1></body></html>"},
            {"kind": "reset", "probability": 0.1, "seed": 2},
            {"kind": "cut", "after_bytes": 60, "probability": 0.1, "seed": 3}
        ]"#,
    ),
    ("slow", r#"[{"kind": "delay", "seconds": 0.5, "max_seconds": 3}]"#),
    ("throttled", r#"[{"kind": "status", "status": 429, "retry_after": 1, "probability": 0.4}]"#),
    ("expired-token", r#"[{"kind": "expired_token"}]"#),
    // Fewer than half of the rows, which is what a refresh notices.
    ("shrinking", r#"[{"kind": "shrink", "keep": 0.25, "path": "search"}]"#),
];

/// The faults of a preset.
pub(super) fn faults(preset: &str) -> Result<Vec<Fault>> {
    let form = PRESETS.iter().find(|(name, _)| *name == preset).map_or("[]", |(_, form)| form);
    serde_json::from_str(form).map_err(|cause| defect(&format!("preset {preset}: {cause}")))
}
