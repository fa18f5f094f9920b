//! The body of a search (sections 4.1 and 4.2).

use serde::Serialize;

use super::condition::Condition;

/// Body of `POST /access/api/item/search`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchBody {
    /// Identifier of the business object.
    #[serde(rename = "itemTypeId")]
    pub item_type_id: i64,
    /// Name of the business object.
    #[serde(rename = "itemTypeName")]
    pub item_type_name: String,
    /// Attributes to return.
    pub attrs: Attributes,
    /// An OR of ANDs.
    pub filters: Filters,
}

/// `attrs`, which section 4.1 calls both an array of strings and a string.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Attributes {
    /// The array form, which is sent unless asked otherwise.
    Names(Vec<String>),
    /// The text form: names separated by commas.
    Text(String),
}

/// `filters`: a record is returned when it satisfies at least one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filters {
    /// The groups.
    #[serde(rename = "OR")]
    pub or: Vec<Group>,
}

/// A group is satisfied by a record that meets all its conditions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The conditions.
    #[serde(rename = "AND")]
    pub and: Vec<Condition>,
}
