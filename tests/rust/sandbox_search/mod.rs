//! Searches of the sandbox, byte for byte: shapes, rules, borders of days, and exact values.
//!
//! Switches and streaming have their own files.

mod generic;
mod promotion_codes;

use dataaccess::sandbox::{Options, Sandbox};

fn empty() -> Sandbox {
    Sandbox::start(Options::default()).unwrap()
}
