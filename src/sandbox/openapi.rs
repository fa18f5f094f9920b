//! The `OpenAPI` 3.1 description of both operations, as `docs/openapi.json` has it.

/// The path that serves the description.
pub(super) const PATH: &str = "/openapi.json";

/// The description as JSON.
pub(super) const DESCRIPTION: &str = include_str!("../../docs/openapi.json");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::contract::codes::{AUDIENCE_TYPES, POSITIONS, STATUSES};
    use crate::contract::{DOWNLOAD_PATH, SCOPE_DOWNLOAD, SCOPE_ITEM, SEARCH_PATH};
    use crate::sandbox::days::TIMES;
    use crate::sandbox::middleware::BODY_LIMIT;
    use crate::sandbox::objects::BusinessObject;
    use crate::sandbox::request::MAX_CONDITIONS;

    fn description() -> Value {
        serde_json::from_str(DESCRIPTION).unwrap()
    }

    /// The targets of all references of a value, as JSON pointers.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, member)| match member {
                Value::String(target) if name == "$ref" => found.push(target.replacen('#', "", 1)),
                _ => references(member, found),
            }),
            Value::Array(elements) => elements.iter().for_each(|element| references(element, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_to_a_component_and_every_component_is_referred_to() {
        let description = description();
        let mut found = Vec::new();
        references(&description, &mut found);
        for target in &found {
            assert!(description.pointer(target).is_some(), "{target}");
        }
        for section in ["schemas", "responses"] {
            for name in description["components"][section].as_object().unwrap().keys() {
                let target = format!("/components/{section}/{name}");
                assert!(found.contains(&target), "{target}");
            }
        }
    }

    #[test]
    fn its_values_are_those_of_the_service() {
        let description = description();
        assert_eq!(description["info"]["version"], crate::VERSION);
        for (path, scope) in [(SEARCH_PATH, SCOPE_ITEM), (DOWNLOAD_PATH, SCOPE_DOWNLOAD)] {
            assert_eq!(description["paths"][path]["post"]["security"], json!([{ "accessToken": [scope] }]));
        }
        let schemas = &description["components"]["schemas"];
        let values = |values: [(&str, i64); 2]| json!(values.map(|(_, number)| number));
        assert_eq!(schemas["AudienceTypeCondition"]["properties"]["value"]["items"]["enum"], values(AUDIENCE_TYPES));
        let statuses = json!(STATUSES.map(|(_, number)| number));
        assert_eq!(schemas["CodeStatusCondition"]["properties"]["value"]["items"]["enum"], statuses);
        let names = ["AudienceType", "AllocatedAudience", "CodeStatus", "AllocatedTime"];
        for (name, column) in names.into_iter().zip(POSITIONS) {
            assert_eq!(schemas[format!("{name}Condition")]["properties"]["column"]["const"], column);
        }
        let times = &schemas["AllocatedTimeCondition"]["properties"]["value"];
        assert_eq!((&times["minimum"], &times["maximum"]), (&json!(TIMES.start()), &json!(TIMES.end())));
        for (search, record, object) in [
            ("PromotionCodeSearch", Some("PromotionCode"), BusinessObject::promotion_code()),
            ("CustomerSearch", None, BusinessObject::customer()),
        ] {
            let search = &schemas[search]["properties"];
            let attributes: Vec<&str> = object.attributes.iter().map(|each| each.name.as_str()).collect();
            let attrs = &search["attrs"];
            let array = attrs["oneOf"].get(0).unwrap_or(attrs);
            assert_eq!(
                (&array["items"]["enum"], &search["itemTypeId"]["const"]),
                (&json!(attributes), &json!(object.id))
            );
            if let Some(record) = record {
                assert!(schemas[record]["properties"].as_object().unwrap().keys().eq(&attributes));
            }
        }
        let limit = &schemas["ItemSearch"]["properties"]["filters"]["properties"]["OR"]["maxItems"];
        assert_eq!(*limit, json!(MAX_CONDITIONS));
        assert!(DESCRIPTION.contains(&format!("larger than {BODY_LIMIT} bytes")));
    }
}
