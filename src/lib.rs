//! The core of `dataaccess`: requests of the Data Access API checked before they are sent, sent with care,
//! and their responses decoded as they arrive.
//!
//! Without features this crate is a plain Rust library. `files` adds files of rows and folders of them, `sandbox` the
//! sandbox, `python` the extension module. `ARCHITECTURE.md` shows the modules and which may call which.

#![cfg_attr(
    test,
    allow(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used,
        reason = "what a test did not expect fails it"
    )
)]

pub mod cells;
pub mod client;
pub mod columns;
pub mod config;
mod contract;
pub mod decode;
pub mod error;
#[cfg(feature = "files")]
pub mod files;
pub mod filter;
#[cfg(feature = "files")]
pub mod folder;
pub mod observe;
pub mod regular_file;
pub mod retry;
pub mod scan;
pub mod secret;
#[cfg(feature = "files")]
pub mod store;
pub mod time;
pub mod transport;

#[cfg(feature = "python")]
mod python;
#[cfg(feature = "sandbox")]
pub mod sandbox;

/// Version of the package: `Cargo.toml` is the one place that states it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
