//! The sandbox over real sockets: response formats, rules, access, exports, lifetime.
//!
//! Requests are written by hand, so that the sandbox is compared with the specification and not with our client.

mod access;
mod days;
mod exports;
mod faults;
mod generic;
mod hostile;
mod http;
mod lifetime;
mod limits;
mod promotion_codes;
mod remote;
mod request_log;
mod rules;
mod switches;
mod wire;
