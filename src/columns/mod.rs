//! The sink that builds Arrow: typed columns, the schema of promotion codes, inference and widening.
//!
//! It makes all Arrow there is; `scan` and the bindings hand it on. It knows cells and nothing of where they come from.

mod batch;
mod builder;
mod gather;
mod inferred;
mod json;
mod nulls;
mod numbers;
mod texts;
mod types;
mod unify;
mod values;

pub use gather::{Columns, Options};
pub use types::{Column, Kind, Type, codes, items, known_types, names, schema, settled, settled_by_name};
pub use unify::unify;

#[cfg(test)]
mod tests;
