//! When to send again, after how long, and when rather not at all. Pure: clock and chance are passed in, nothing
//! sleeps here.

mod budget;
mod header;
mod policy;
mod state;
mod throttle;

pub use budget::RetryBudget;
pub use header::retry_after;
pub use policy::Policy;
pub use state::{RetryDecision, RetryState};
pub use throttle::{Permit, Throttle};
