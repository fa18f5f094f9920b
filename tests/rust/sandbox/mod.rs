//! The sandbox over real sockets: access, faults, limits, lifetime.
//!
//! Requests are written by hand, so that the sandbox is compared with the specification and not with our client.

mod access;
mod faults;
mod http;
mod lifetime;
mod limits;
mod remote;
pub mod wire;
