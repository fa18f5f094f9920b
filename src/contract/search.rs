//! The body of a search (4.1, 4.2).

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

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
    /// Which records to return.
    pub filters: Filters,
}

/// `attrs`, which 4.1 calls both an array of strings and a string.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Attributes {
    /// An array, the default.
    Names(#[serde(serialize_with = "as_array")] Arc<[String]>),
    /// A string of names separated by commas.
    Text(String),
}

fn as_array<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    names.serialize(serializer)
}

/// `filters`: a record matches when it satisfies at least one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filters {
    /// The groups.
    #[serde(rename = "OR")]
    pub or: Vec<Group>,
}

impl Filters {
    /// Sets the value of a condition of the first group.
    pub fn set_value(&mut self, position: usize, value: Value) {
        if let Some(condition) = self.or.first_mut().and_then(|group| group.and.get_mut(position)) {
            condition.value = value;
        }
    }
}

/// A group is satisfied by a record that meets all its conditions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The conditions.
    #[serde(rename = "AND")]
    pub and: Vec<Condition>,
}
