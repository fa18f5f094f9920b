//! Business objects: list and declare.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::error::{Error, Kind};
use crate::sandbox::objects::{Attribute, AttributeKind, BusinessObject};
use crate::sandbox::service::Service;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    name: String,
    item_type_id: i64,
    attributes: Map<String, Value>,
}

/// All objects with their attributes and the number of their rows.
pub(super) fn list(service: &Service, _: &Call) -> Result<Answer, Failure> {
    service.refresh_demo()?;
    let shown = |object: &BusinessObject| -> Result<Value, Failure> {
        let mut shown = described(object);
        if let Some(members) = shown.as_object_mut() {
            members.insert("rows".to_owned(), service.store.count(object)?.into());
        }
        Ok(shown)
    };
    Ok(Answer::ok(service.store.objects()?.iter().map(shown).collect::<Result<_, _>>()?))
}

/// Declares an object.
pub(super) fn declare(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Declaration { name, item_type_id, attributes } = call.json()?;
    let attributes = attributes.into_iter().map(|(attribute, kind)| {
        let kind = kind.as_str().and_then(AttributeKind::from_name).ok_or_else(|| {
            let shown = kind.as_str().map_or_else(|| kind.to_string(), ToOwned::to_owned);
            Error::new(Kind::Sandbox, format!("object `{name}`: attribute `{attribute}` cannot be `{shown}`"))
                .with_hint(
                    "it is string, int64, float64, timestamp, bool or list, or as the service says number or datetime",
                )
        })?;
        Ok(Attribute { name: attribute, kind })
    });
    let attributes = attributes.collect::<Result<_, Error>>().map_err(|error| Failure::of_body(&error))?;
    let object = BusinessObject { id: item_type_id, name, attributes };
    object.check().map_err(|error| Failure::of_body(&error))?;
    service.store.declare(&object)?;
    Ok(Answer::created(described(&object)))
}

fn described(object: &BusinessObject) -> Value {
    let kind = |attribute: &Attribute| (attribute.name.clone(), Value::from(attribute.kind.data_type()));
    let attributes: Map<String, Value> = object.attributes.iter().map(kind).collect();
    json!({"name": object.name, "item_type_id": object.id, "attributes": attributes})
}
