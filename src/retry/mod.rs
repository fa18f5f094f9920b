//! When to send again, after how long, and when rather not at all. Pure: clock and chance are passed in, nothing
//! sleeps here.

mod course;
mod gate;
mod header;
mod policy;
mod quota;

pub use course::{Again, Course};
pub use gate::{Gate, Turn};
pub use header::retry_after;
pub use policy::Policy;
pub use quota::Quota;
