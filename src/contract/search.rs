//! The body of a search (4.1, 4.2).

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::condition::Condition;

/// Body of `POST /access/api/item/search`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchBody {
    pub item_type_id: i64,
    pub item_type_name: String,
    pub attrs: Attributes,
    pub filters: Filters,
}

/// `attrs`, which 4.1 calls both an array of strings, the default here, and a string of names separated by commas.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Attributes {
    Names(#[serde(serialize_with = "as_array")] Arc<[String]>),
    Text(String),
}

fn as_array<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    names.serialize(serializer)
}

/// `filters`: a record matches when it satisfies at least one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct Filters {
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
#[serde(rename_all = "UPPERCASE")]
pub struct Group {
    pub and: Vec<Condition>,
}
