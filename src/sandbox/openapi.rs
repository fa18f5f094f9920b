//! The `OpenAPI` 3.1 description of both operations, as `docs/openapi.json` has it.

/// The path that serves the description.
pub(super) const PATH: &str = "/openapi.json";

/// The description as JSON.
pub(super) const DESCRIPTION: &str = include_str!("../../docs/openapi.json");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::contract::business_object::{CUSTOMER_ID, PROMOTION_CODE_ID};
    use crate::contract::codes::{ATTRIBUTES, AUDIENCE_TYPES, STATUSES};
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
    fn its_version_and_limits_are_those_of_the_service() {
        let description = description();
        assert_eq!(description["info"]["version"], crate::VERSION);
        let schemas = &description["components"]["schemas"];
        let limit = &schemas["ItemSearch"]["properties"]["filters"]["properties"]["OR"]["maxItems"];
        assert_eq!(*limit, json!(MAX_CONDITIONS));
        let times = &schemas["AllocatedTimeCondition"]["properties"]["value"];
        assert_eq!((&times["minimum"], &times["maximum"]), (&json!(TIMES.start()), &json!(TIMES.end())));
        let attributes = BusinessObject::promotion_code().attributes;
        let names = schemas["PromotionCode"]["properties"].as_object().unwrap().keys();
        assert!(names.eq(attributes.iter().map(|attribute| &attribute.name)));
        assert!(DESCRIPTION.contains(&format!("larger than {BODY_LIMIT} bytes")));
    }

    #[test]
    fn its_values_paths_and_scopes_are_those_of_the_contract() {
        let description = description();
        let numbers = |named: &[(&str, i64)]| json!(named.iter().map(|(_, number)| number).collect::<Vec<_>>());
        for (place, expected) in [
            ("CodeStatusCondition/properties/value/items/enum", numbers(&STATUSES)),
            ("AudienceTypeCondition/properties/value/items/enum", numbers(&AUDIENCE_TYPES)),
            ("PromotionCodeSearch/properties/attrs/items/enum", json!(ATTRIBUTES)),
            ("PromotionCodeSearch/properties/itemTypeId/const", json!(PROMOTION_CODE_ID)),
            ("CustomerSearch/properties/itemTypeId/const", json!(CUSTOMER_ID)),
        ] {
            assert_eq!(description.pointer(&format!("/components/schemas/{place}")), Some(&expected), "{place}");
        }
        let paths = description["paths"].as_object().unwrap();
        let scopes: Vec<_> =
            paths.iter().map(|(path, item)| (path.as_str(), &item["post"]["security"][0]["accessToken"])).collect();
        assert_eq!(scopes, [(SEARCH_PATH, &json!([SCOPE_ITEM])), (DOWNLOAD_PATH, &json!([SCOPE_DOWNLOAD]))]);
    }
}
