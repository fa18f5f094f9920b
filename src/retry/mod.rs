//! Whether to retry a failed request, after how long, and how fast requests may start after a 429. Pure: the time and
//! random numbers are passed in, and nothing sleeps.

mod header;
mod health;
mod policy;
mod throttle;
mod verdict;

pub use header::retry_after;
pub use health::Health;
pub use policy::{Policy, RetryDecision, RetryState};
pub use throttle::Throttle;
pub use verdict::{Pause, Remedy, Scope, Verdict};
