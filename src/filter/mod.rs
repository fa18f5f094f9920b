//! Checks requests before they are sent: turns arguments into a request body, or one error that reports all problems.
//!
//! Pure: it knows neither Python nor HTTP. Numbers such as 4.2 are sections of the API specification.

mod attributes;
pub mod codes;
mod conditions;
mod days;
pub mod export;
mod given;
mod input;
pub mod items;
mod normal_form;
mod parts;
mod plan;
mod problems;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;

use crate::contract::search::SearchBody;

pub(crate) use conditions::span;
pub use days::Days;
pub use input::{ColumnCondition, Comparison, InputValue, Method};
pub use normal_form::{MAX_GROUPS, Tree};
pub use parts::{SearchPart, SearchParts};
pub use plan::{Plan, VALUES_PER_REQUEST};
pub(crate) use values::did_you_mean;

/// A search that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The body to send.
    pub body: SearchBody,
    /// The requested attributes in their order: the keys of each record.
    pub attributes: Arc<[String]>,
    /// Records after which the client stops, if the caller set a limit.
    pub limit: Option<u64>,
    /// A number of records at which the service is known to cut responses, if the caller knows one.
    pub known_row_cap: Option<u64>,
}
