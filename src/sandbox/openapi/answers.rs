//! Schemas of the answers: the envelope (section 2.1) around records, export entries and refusals (section 7).

use serde_json::{Map, Value, json};

use super::shapes::{closed_object, described, reference};
use crate::contract::envelope::{
    CODE_PERMISSION, CODE_SUCCESS, DATA_PERMISSION, MESSAGE_DOWNLOAD, MESSAGE_PERMISSION, MESSAGE_SEARCH,
    STATUS_PERMISSION, field,
};
use crate::sandbox::body::BODY_LIMIT;
use crate::sandbox::objects::{AttributeKind, BusinessObject};

const ABOUT_RECORDS: &str = "Each record has the attributes asked for as its keys. What an answer without records \
    looks like is not shown (section 4.2): an empty array, unless the sandbox's switch `empty_shape` says otherwise.";
const TIME: &str = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$";
const TIME_OF_EXPORT: &str = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$";

/// The named schemas of this room.
pub(super) fn schemas() -> Value {
    json!({
        "SearchAnswer": search(),
        "PromotionCode": record(&BusinessObject::promotion_code()),
        "Item": {
            "description": "A record of any object: its keys are the names of `attrs` (section 2.3).",
            "type": "object",
            "additionalProperties": { "type": ["string", "number", "null"] },
        },
        "DownloadAnswer": download(),
        "ExportEntry": export_entry(),
        "PermissionFailure": closed_object(
            &json!({
                (field::CODE): { "const": CODE_PERMISSION },
                (field::MESSAGE): { "const": MESSAGE_PERMISSION },
                (field::DATA): { "const": DATA_PERMISSION },
            }),
            &[],
        ),
        "Problem": problem(),
    })
}

/// The answers of an operation that succeeds with this schema.
pub(super) fn responses(success: &Value) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), response("The operation succeeded.", success));
    for (status, name, _) in table() {
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
    }
    responses.into()
}

/// The named answers of a request that is not served.
pub(super) fn refusals() -> Value {
    let mut responses = Map::new();
    for (status, name, about) in table() {
        let coded = json!({ "properties": { (field::CODE): { "const": status } } });
        let mut schema = json!({ "allOf": [reference("Problem"), coded] });
        if status == STATUS_PERMISSION {
            schema = json!({ "oneOf": [reference("PermissionFailure"), schema] });
        }
        let mut response = response(&about, &schema);
        let header = match status {
            405 => Some(("Allow", "The methods that the path takes.")),
            503 => Some(("Retry-After", "Seconds after which to ask again.")),
            _ => None,
        };
        if let (Some((name, about)), Some(members)) = (header, response.as_object_mut()) {
            let header = json!({ "description": about, "required": true, "schema": { "type": "string" } });
            members.insert("headers".to_owned(), json!({ (name): header }));
        }
        responses.insert(name.to_owned(), response);
    }
    responses.into()
}

/// Status, name and description of each refusal.
fn table() -> [(u16, &'static str, String); 8] {
    let about = |text: &str| text.to_owned();
    [
        (400, "Malformed", about("The request breaks a rule; `message` names the place and the problem.")),
        (
            STATUS_PERMISSION,
            "Forbidden",
            about("The token is missing, invalid, expired or without the scope; or the request is not for this host."),
        ),
        (404, "NotFound", about("There is no such business object, export or path.")),
        (405, "MethodNotAllowed", about("The path takes another method.")),
        (408, "BodyTimeout", about("The body did not arrive in time.")),
        (413, "TooLarge", format!("The body is larger than {BODY_LIMIT} bytes.")),
        (
            415,
            "UnsupportedMediaType",
            about("The body is encoded, or a search of promotion codes is not `application/json`."),
        ),
        (503, "Unavailable", about("The service is busy.")),
    ]
}

fn response(about: &str, schema: &Value) -> Value {
    json!({ "description": about, "content": { "application/json": { "schema": schema } } })
}

fn search() -> Value {
    let records = json!({
        "type": ["array", "object", "null"],
        "items": { "anyOf": [reference("PromotionCode"), reference("Item")] },
        "maxProperties": 0,
    });
    let data = json!({ (field::STATUS): { "const": true }, (field::RECORDS): described(ABOUT_RECORDS, records) });
    closed_object(
        &json!({
            (field::CODE): { "const": CODE_SUCCESS },
            (field::MESSAGE): { "const": MESSAGE_SEARCH },
            (field::DATA): closed_object(&data, &[field::RECORDS]),
        }),
        &[],
    )
}

/// A record of an object whose attributes are known; it has those that were asked for.
fn record(object: &BusinessObject) -> Value {
    let attribute = |kind: AttributeKind| match kind {
        AttributeKind::Text => json!({ "type": ["string", "null"] }),
        AttributeKind::Number => json!({ "type": ["number", "null"] }),
        AttributeKind::Datetime => json!({ "type": ["string", "null"], "pattern": TIME }),
    };
    let members = object.attributes.iter().map(|each| (each.name.clone(), attribute(each.kind)));
    json!({ "type": "object", "additionalProperties": false, "properties": members.collect::<Map<_, _>>() })
}

fn download() -> Value {
    let entries = json!({ "type": "array", "items": reference("ExportEntry") });
    let total = described("The number of entries.", json!({ "type": "integer", "minimum": 0 }));
    let data = json!({
        (field::ENTRIES): entries,
        (field::META): closed_object(&json!({ (field::TOTAL): total }), &[]),
    });
    closed_object(
        &json!({
            (field::CODE): { "const": CODE_SUCCESS },
            (field::MESSAGE): { "const": MESSAGE_DOWNLOAD },
            (field::DATA): closed_object(&data, &[]),
            (field::CODE_MESSAGE): { "type": "null" },
            (field::DURATION): described("Elapsed time.", json!({ "type": "string", "pattern": r"^\d+ms$" })),
        }),
        &[],
    )
}

/// Section 2.5; the types that it does not show are those of the sandbox.
fn export_entry() -> Value {
    let unfinished = |schema: Value| described("Null while unfinished.", schema);
    closed_object(
        &json!({
            "exportStatus": described("1 while it runs (section 3.2).", json!({ "type": "integer" })),
            "exportedRows": unfinished(json!({ "type": ["integer", "null"], "minimum": 0 })),
            "startTime": { "type": "string", "pattern": TIME_OF_EXPORT },
            "endTime": unfinished(json!({ "type": ["string", "null"], "pattern": TIME_OF_EXPORT })),
            "durations": unfinished(json!({ "type": ["integer", "null"], "minimum": 0 })),
            "responseCode": unfinished(json!({ "type": ["integer", "null"] })),
            "responseMessage": unfinished(json!({ "type": ["string", "null"] })),
        }),
        &[],
    )
}

fn problem() -> Value {
    let schema = closed_object(
        &json!({
            (field::CODE): { "type": "integer" },
            (field::MESSAGE): { "type": "string", "minLength": 1 },
            (field::DATA): described("The same as `message`.", json!({ "type": "string", "minLength": 1 })),
        }),
        &[],
    );
    described("A refusal; `code` is the HTTP status.", schema)
}
