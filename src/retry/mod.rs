//! Whether to retry a failed request and after how long, and when requests may start. Pure: the time and random numbers
//! are passed in, and nothing sleeps.

mod gate;
mod policy;
mod throttle;
mod verdict;

pub use gate::{Caller, Gate, Hold};
pub use policy::{Policy, RetryState, ended_by};
pub use verdict::{Remedy, Verdict, retry_after, retry_after_ms, should_retry};
