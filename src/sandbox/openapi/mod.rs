//! The service as an `OpenAPI` 3.1 document: sections 2 to 8, with the sandbox's answers to what they leave open.
//!
//! Built from the constants of `contract` alone: it depends on no switch, no store and no request.

mod answers;
mod conditions;
mod requests;
mod shapes;

use serde_json::{Value, json};

use self::shapes::reference;
use crate::contract::{DOWNLOAD_PATH, SCOPE_DOWNLOAD, SCOPE_ITEM, SEARCH_PATH};

/// Where the document is served.
pub(super) const PATH: &str = "/openapi.json";

/// Name of the one security scheme (section 5).
const SCHEME: &str = "accessToken";

const ABOUT: &str = "Searches the items of business objects and tells the state of segment exports. \
    This is the service as the sandbox of `dataaccess` gives it: what the service's own document leaves open \
    is answered as the table in the README says, unless a switch says otherwise, and versions are not shown, so \
    this one is the package's.";

const ABOUT_SEARCH: &str = "Returns a record when it meets all conditions of at least one element of `filters.OR` \
    (sections 4.1 and 4.2). A search of promotion codes has exactly one element, with its conditions in a fixed \
    order; with `audience_type` and without `allocated_audience` its answer is empty. Order of the records: by \
    their first attribute. There is no paging.";

const ABOUT_DOWNLOAD: &str = "Tells the entries of a segment export (section 4.3). What an entry does not know \
    before its end is null until then.";

const ABOUT_TOKEN: &str = "A token that is missing, invalid, expired or without the scope gives the same answer: \
    403 with code 301 (sections 5 and 7).";

/// The document as JSON text.
pub(super) fn document() -> String {
    format!("{:#}\n", whole())
}

fn whole() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Data Access API",
            "version": crate::VERSION,
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": {
            (SEARCH_PATH): { "post": operation(
                "searchItems",
                "Search items of a business object",
                ABOUT_SEARCH,
                SCOPE_ITEM,
                &requests::search(),
                "SearchAnswer",
            ) },
            (DOWNLOAD_PATH): { "post": operation(
                "downloadSegment",
                "Download the status of an exported segment",
                ABOUT_DOWNLOAD,
                SCOPE_DOWNLOAD,
                &requests::download(),
                "DownloadAnswer",
            ) },
        },
        "components": {
            "securitySchemes": { (SCHEME): { "type": "http", "scheme": "bearer", "description": ABOUT_TOKEN } },
            "schemas": shapes::joined([requests::schemas(), conditions::schemas(), answers::schemas()]),
            "responses": answers::refusals(),
        },
    })
}

/// An operation: what it is called, the scope it needs, what it takes and what it answers.
fn operation(name: &str, summary: &str, about: &str, scope: &str, content: &Value, answer: &str) -> Value {
    json!({
        "operationId": name,
        "summary": summary,
        "description": about,
        "security": [{ (SCHEME): [scope] }],
        "requestBody": { "required": true, "content": { "application/json": content } },
        "responses": answers::responses(&reference(answer)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let document = whole();
        let mut found = Vec::new();
        references(&document, &mut found);
        for target in &found {
            assert!(document.pointer(target).is_some(), "{target}");
        }
        for room in ["schemas", "responses"] {
            for name in document["components"][room].as_object().unwrap().keys() {
                let target = format!("/components/{room}/{name}");
                assert!(found.contains(&target), "{target}");
            }
        }
    }
}
