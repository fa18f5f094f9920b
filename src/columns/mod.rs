//! The sink that builds Arrow: typed columns, the schema of promotion codes, inference and widening.
//!
//! It makes all Arrow there is; `scan` and the bindings hand it on. It knows cells and nothing of where they come from.

mod batch;
mod builder;
mod inferred;
mod json;
mod nulls;
mod numbers;
mod primitive_builder;
mod sink;
mod string_builder;
mod types;
mod unify;

pub use sink::{ColumnSink, Options};
pub use types::{Column, Kind, Type, codes, frozen, frozen_by_name, items, known_types, names, schema};
pub use unify::unify;

#[cfg(test)]
mod tests;
