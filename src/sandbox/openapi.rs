//! The `OpenAPI` 3.0 description of both operations, as `docs/openapi.json` has it: loose, for generators of clients.

/// The path that serves the description.
pub(super) const PATH: &str = "/openapi.json";

/// The description as JSON.
pub(super) const DESCRIPTION: &str = include_str!("../../docs/openapi.json");

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
    use crate::sandbox::middleware::BODY_LIMIT;
    use crate::sandbox::objects::BusinessObject;

    fn published() -> Value {
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
    fn references_lead_to_components_and_to_each() {
        let description = published();
        let mut found = Vec::new();
        references(&description, &mut found);
        for target in &found {
            assert!(description.pointer(target).is_some(), "{target}");
        }
        for section in ["schemas", "responses"] {
            for name in description["components"][section].as_object().unwrap().keys() {
                let target = format!("/components/{section}/{name}");
                // For the programs that parse an item with it.
                assert_eq!(found.contains(&target), name != "PromotionCode", "{target}");
            }
        }
    }

    #[test]
    fn version_paths_and_attributes_are_those_of_the_service() {
        let description = published();
        assert_eq!(description["info"]["version"], crate::VERSION);
        assert!(description["paths"].as_object().unwrap().keys().eq([SEARCH_PATH, DOWNLOAD_PATH]));
        assert!(DESCRIPTION.contains(&format!("larger than {BODY_LIMIT} bytes")));
        let attributes = BusinessObject::promotion_code().attributes;
        let code = description["components"]["schemas"]["PromotionCode"]["properties"].as_object().unwrap();
        assert!(code.keys().eq(attributes.iter().map(|attribute| &attribute.name)));
    }
}
