//! Tests across modules. One program, as each would be linked with all dependencies once more.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what a test did not expect fails it"
)]

mod any_time;
mod c_libraries;
mod contract;
mod files;
mod layers;
mod open_points;
mod overload;
mod sandbox;
mod sandbox_streaming;
