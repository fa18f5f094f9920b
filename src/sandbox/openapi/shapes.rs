//! The few JSON Schema shapes of which all others are made. They know nothing of the service.

use serde_json::{Map, Value, json};

/// A reference to a named schema.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An object that has these members and no others; all but the optional ones are required.
pub(super) fn closed_object(properties: &Value, optional: &[&str]) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.filter(|name| !optional.contains(&name.as_str())).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// A whole number of 64 bits.
pub(super) fn integer() -> Value {
    json!({ "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX })
}

/// The same schema with a description before it.
pub(super) fn described(about: &str, schema: Value) -> Value {
    joined([json!({ "description": about }), schema])
}

/// The members of several objects in one.
pub(super) fn joined(objects: impl IntoIterator<Item = Value>) -> Value {
    let members = objects.into_iter().filter_map(|object| match object {
        Value::Object(members) => Some(members),
        _ => None,
    });
    Value::Object(members.flatten().collect())
}
