//! The extension module.

pub mod given;
