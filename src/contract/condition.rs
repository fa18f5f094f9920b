//! The condition object of section 2.4 in its two wire shapes.

use serde::Serialize;
use serde_json::Value;

/// `type` of every condition of a promotion code search.
pub const CODE_CONDITION_TYPE: i64 = 2;
/// `value_type` of a generic condition: the one value seen.
pub const VALUE_TYPE: &str = "normal";
/// `condition_type` of a generic condition: the one value seen.
pub const CONDITION_TYPE: &str = "comp_attr";
/// `time_unit` of a datetime condition: the one value seen.
pub const TIME_UNIT: &str = "DAY";

/// `data_type` of text values.
pub const STRING: &str = "string";
/// `data_type` of numbers.
pub const NUMBER: &str = "number";
/// `data_type` of a time; its value is a bare integer of Unix milliseconds, not an array.
pub const DATETIME: &str = "datetime";

/// Operator of the value lists.
pub const MATCHES: &str = "matches";
/// Operator `equals`.
pub const EQUALS: &str = "equals";
/// Operator `before_date`.
pub const BEFORE_DATE: &str = "before_date";
/// Operator `after_date`.
pub const AFTER_DATE: &str = "after_date";

/// A condition of a promotion code search (section 4.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeCondition {
    /// Always [`CODE_CONDITION_TYPE`].
    #[serde(rename = "type")]
    pub kind: i64,
    /// Attribute to filter on.
    pub column: String,
    /// `string`, `number` or `datetime`.
    pub data_type: String,
    /// What is compared.
    pub operator: String,
    /// An array, or for `datetime` one bare integer.
    pub value: Value,
    /// An empty array on string and number conditions; absent on datetime conditions.
    #[serde(rename = "extendValue", skip_serializing_if = "Option::is_none")]
    pub extend_value: Option<Vec<Value>>,
    /// On datetime conditions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
}

/// A condition of a generic search (section 4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemCondition {
    /// Attribute to filter on.
    pub column: String,
    /// `string`, `number` or `datetime`.
    pub data_type: String,
    /// What is compared.
    pub operator: String,
    /// [`VALUE_TYPE`] unless the caller gave another.
    pub value_type: String,
    /// An array, or for `datetime` one bare integer.
    pub value: Value,
    /// On datetime conditions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// [`CONDITION_TYPE`] unless the caller gave another.
    pub condition_type: String,
}

/// A condition in the shape its business object wants.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Condition {
    /// Section 4.2.
    Code(CodeCondition),
    /// Section 4.1.
    Item(ItemCondition),
}

impl Condition {
    /// Attribute to filter on.
    #[must_use]
    pub fn column(&self) -> &str {
        match self {
            Self::Code(condition) => &condition.column,
            Self::Item(condition) => &condition.column,
        }
    }

    /// What is compared.
    #[must_use]
    pub fn operator(&self) -> &str {
        match self {
            Self::Code(condition) => &condition.operator,
            Self::Item(condition) => &condition.operator,
        }
    }

    /// What it is compared with.
    #[must_use]
    pub fn value(&self) -> &Value {
        match self {
            Self::Code(condition) => &condition.value,
            Self::Item(condition) => &condition.value,
        }
    }

    /// What it is compared with, to be changed.
    pub fn value_mut(&mut self) -> &mut Value {
        match self {
            Self::Code(condition) => &mut condition.value,
            Self::Item(condition) => &mut condition.value,
        }
    }

    /// Whether it stands for several requests, one for each of its times: the document knows no list of times.
    #[must_use]
    pub fn is_range(&self) -> bool {
        let data_type = match self {
            Self::Code(condition) => &condition.data_type,
            Self::Item(condition) => &condition.data_type,
        };
        data_type == DATETIME && self.value().is_array()
    }
}
