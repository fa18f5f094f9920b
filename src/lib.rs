//! The core of `dataaccess`: requests of the Data Access API checked before they are sent, sent with care,
//! and their answers decoded as they arrive.
//!
//! Without features this crate is a plain Rust library. `sandbox` adds the embedded service, `python` the
//! extension module. `ARCHITECTURE.md` shows the rooms and which may call which.

pub mod cells;
pub mod contract;
pub mod decode;
pub mod error;
pub mod filter;
#[cfg(feature = "python")]
pub mod python;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod secret;
pub mod time;

/// Version of the package: `Cargo.toml` is the one place that states it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
