//! The condition of a filter (2.4).

use serde::Serialize;
use serde_json::Value;

/// `type` of every condition of a promotion code search.
pub const CODE_CONDITION_TYPE: i64 = 2;

// The only specified values of these members.
pub const VALUE_TYPE: &str = "normal";
pub const CONDITION_TYPE: &str = "comp_attr";
pub const TIME_UNIT: &str = "DAY";

// Values of `data_type`. That of a time is one integer of Unix milliseconds, not an array.
pub const STRING: &str = "string";
pub const NUMBER: &str = "number";
pub const DATETIME: &str = "datetime";

// Operators. The first takes several values.
pub const MATCHES: &str = "matches";
pub const EQUALS: &str = "equals";
pub const BEFORE_DATE: &str = "before_date";
pub const AFTER_DATE: &str = "after_date";

/// A condition. It serializes in the shape of 4.2 with `kind`, and of 4.1 with `value_type` and `condition_type`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the specification names them so")]
pub struct Condition {
    /// [`CODE_CONDITION_TYPE`] in a promotion code search only.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<i64>,
    pub column: String,
    pub data_type: String,
    pub operator: String,
    /// In a generic search; in a promotion code search only where the caller gives it (2.4 and 4.1 differ).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
    /// An array, or one integer for `datetime`.
    pub value: Value,
    /// An empty array on string and number conditions of a promotion code search.
    #[serde(rename = "extendValue", skip_serializing_if = "Option::is_none")]
    pub extend_value: Option<Vec<Value>>,
    /// On datetime conditions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// In a generic search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_type: Option<String>,
}

impl Condition {
    /// Whether the value is a list of times. It is sent as one request for each: a datetime condition takes one time.
    pub fn is_range(&self) -> bool {
        self.data_type == DATETIME && self.value.is_array()
    }
}
