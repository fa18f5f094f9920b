//! What was decided of a response before it replaced anything, as the record of its part remembers it.

use serde::{Deserialize, Serialize};

use super::data_warning::DataWarning;

/// What was decided when the newest response to the request of a part came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What looked wrong that the figures of the part do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<DataWarning>,
    /// Whether the response was not written: the rows are of an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_refused: bool,
    /// Whether the caller takes the part as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_accepted: bool,
}
