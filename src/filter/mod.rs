//! Requests checked before they are sent: what a caller gave becomes a body of the document, or one error
//! that tells everything that is wrong, each problem with its place.
//!
//! Pure: values in, values out. It knows neither Python nor how a body travels.

mod attributes;
mod code_condition;
mod code_filters;
pub mod codes;
pub mod export;
mod input;
mod item_condition;
mod item_filters;
mod item_type;
pub mod items;
mod limit;
mod nearest;
mod normal_form;
mod plan;
mod problems;
mod raw_condition;
#[cfg(test)]
mod sample;
mod times;
mod values;
mod where_clause;

use crate::contract::search::SearchBody;

pub use input::{ColumnCondition, Comparison, Days, InputValue, Method};
pub(crate) use nearest::did_you_mean;
pub use normal_form::{MAX_GROUPS, Tree};
pub use plan::Plan;

/// A search that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The body to send.
    pub body: SearchBody,
    /// The attributes asked for, in the order asked: the keys of each record.
    pub attributes: Vec<String>,
    /// Records after which the client stops, if the caller set a limit.
    pub limit: Option<u64>,
}
