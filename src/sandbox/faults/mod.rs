//! Injected faults. A new kind has its form in `kind` and its effect in `apply`; `active` chooses the requests.

mod active;
mod apply;
mod kind;

pub(super) use active::{Faults, Received};
pub(super) use apply::respond;
pub use kind::Fault;
