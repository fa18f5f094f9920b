//! Whether to retry a failed request and after how long, and when requests may start. Pure: the time and random numbers
//! are passed in, and nothing sleeps.

mod gate;
mod header;
mod policy;
mod throttle;
mod verdict;

pub use gate::{Caller, Gate, Hold};
pub use header::retry_after;
pub use policy::{Policy, RetryDecision, RetryState};
pub use verdict::{Pause, Remedy, Scope, Verdict};
