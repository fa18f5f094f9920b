//! The `OpenAPI` 3.0 description of both operations, as `docs/openapi.json` has it: loose, for generators of clients.
//! The tests hold the service to a strict one as well, `tests/python/sandbox/strict_openapi.json`.

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

    const STRICT: &str = include_str!("../../tests/python/sandbox/strict_openapi.json");

    fn published() -> Value {
        serde_json::from_str(DESCRIPTION).unwrap()
    }

    fn strict() -> Value {
        serde_json::from_str(STRICT).unwrap()
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

    /// Every reference leads to a component, and every component but `unreferred` is referred to.
    #[track_caller]
    fn assert_referred(description: &Value, unreferred: &[&str]) {
        let mut found = Vec::new();
        references(description, &mut found);
        for target in &found {
            assert!(description.pointer(target).is_some(), "{target}");
        }
        for section in ["schemas", "responses"] {
            for name in description["components"][section].as_object().unwrap().keys() {
                let target = format!("/components/{section}/{name}");
                assert_eq!(found.contains(&target), !unreferred.contains(&name.as_str()), "{target}");
            }
        }
    }

    #[test]
    fn references_lead_to_components() {
        assert_referred(&strict(), &[]);
        // For the programs that parse an item with it.
        assert_referred(&published(), &["PromotionCode"]);
    }

    #[test]
    fn versions_and_limits_are_those_of_the_service() {
        let attributes = BusinessObject::promotion_code().attributes;
        for (text, description) in [(STRICT, strict()), (DESCRIPTION, published())] {
            assert_eq!(description["info"]["version"], crate::VERSION);
            let code = description["components"]["schemas"]["PromotionCode"]["properties"].as_object().unwrap();
            assert!(code.keys().eq(attributes.iter().map(|attribute| &attribute.name)));
            assert!(text.contains(&format!("larger than {BODY_LIMIT} bytes")));
        }
        let schemas = &strict()["components"]["schemas"];
        let limit = &schemas["ItemSearch"]["properties"]["filters"]["properties"]["OR"]["maxItems"];
        assert_eq!(*limit, json!(MAX_CONDITIONS));
        let times = &schemas["AllocatedTimeCondition"]["properties"]["value"];
        assert_eq!((&times["minimum"], &times["maximum"]), (&json!(TIMES.start()), &json!(TIMES.end())));
    }

    #[test]
    fn paths_are_those_of_the_contract() {
        for description in [strict(), published()] {
            assert!(description["paths"].as_object().unwrap().keys().eq([SEARCH_PATH, DOWNLOAD_PATH]));
        }
    }

    #[test]
    fn values_and_scopes_are_those_of_the_contract() {
        let description = strict();
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
        for (path, scope) in [(SEARCH_PATH, SCOPE_ITEM), (DOWNLOAD_PATH, SCOPE_DOWNLOAD)] {
            let security = &description["paths"][path]["post"]["security"];
            assert_eq!(security[0]["accessToken"], json!([scope]), "{path}");
        }
    }
}
