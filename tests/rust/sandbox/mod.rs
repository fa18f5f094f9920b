//! The embedded service over real sockets: shapes, rules, access, exports, lifetime.
//!
//! Requests are written by hand, so that the service is held against the document and not against our client.

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
mod received;
mod remote;
mod rules;
mod switches;
mod wire;
