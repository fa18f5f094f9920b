//! Schemas of the bodies: both shapes of the search (sections 4.1 and 4.2) and the download (section 4.3), with an
//! example of each made from the types of the contract.

use serde::Serialize;
use serde_json::{Value, json};

use super::conditions::{self, GENERIC, POSITIONED};
use super::shapes::{closed_object, described, integer, reference};
use crate::contract::SCOPE_DOWNLOAD;
use crate::contract::business_object::{CUSTOMER_ID, CUSTOMER_NAME, KNOWN, PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::condition::{
    CODE_CONDITION_TYPE, CONDITION_TYPE, Condition, DATETIME, EQUALS, MATCHES, NUMBER, STRING, TIME_UNIT, VALUE_TYPE,
};
use crate::contract::export::DownloadBody;
use crate::contract::search::{Attributes, Filters, Group, SearchBody};
use crate::sandbox::demo::EXPORT_FINISHED;
use crate::sandbox::objects::{AttributeKind, BusinessObject};
use crate::sandbox::request::MAX_CONDITIONS;

const ABOUT_ITEMS: &str = "Any other object: the sandbox knows those declared to it. A column's `data_type` is that \
    of its declaration.";

/// The body of a search.
pub(super) fn search() -> Value {
    let shapes = ["PromotionCodeSearch", "CustomerSearch", "ItemSearch"].map(reference);
    json!({
        "schema": { "oneOf": shapes },
        "examples": {
            "promotionCodes": { "summary": "Codes used on a day", "value": used_on_a_day() },
            "customers": { "summary": "Two customers", "value": two_customers() },
        },
    })
}

/// The body of a download.
pub(super) fn download() -> Value {
    json!({ "schema": reference("SegmentDownload"), "example": DownloadBody::new(EXPORT_FINISHED) })
}

/// The named schemas of this room.
pub(super) fn schemas() -> Value {
    json!({
        "PromotionCodeSearch": body(
            &json!({ "const": PROMOTION_CODE_ID }),
            &json!({ "const": PROMOTION_CODE_NAME }),
            &array_of_attributes(&names_of(&BusinessObject::promotion_code())),
            &json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": group(&positions()) }),
        ),
        "CustomerSearch": body(
            &json!({ "const": CUSTOMER_ID }),
            &json!({ "const": CUSTOMER_NAME }),
            &attributes(&names_of(&BusinessObject::customer())),
            &groups(&json!({ "type": "array", "items": customer_condition() })),
        ),
        "ItemSearch": described(ABOUT_ITEMS, any_object()),
        "SegmentDownload": closed_object(
            &json!({ "scope": { "const": SCOPE_DOWNLOAD }, "exportId": integer() }),
            &[],
        ),
    })
}

/// A search of an object that is neither of the two that the service's document names.
fn any_object() -> Value {
    let ids: Vec<i64> = KNOWN.iter().map(|(_, id)| *id).collect();
    let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
    let mut id = integer();
    if let Some(members) = id.as_object_mut() {
        members.insert("not".to_owned(), json!({ "enum": ids }));
    }
    let names = json!({ "type": "string", "not": { "enum": names } });
    let attributes = json!({ "oneOf": [
        { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string" } },
        { "type": "string" },
    ] });
    let condition = json!({ "oneOf": GENERIC.map(reference) });
    body(&id, &names, &attributes, &groups(&json!({ "type": "array", "items": condition })))
}

fn body(id: &Value, name: &Value, attributes: &Value, or: &Value) -> Value {
    let filters = closed_object(&json!({ "OR": or }), &[]);
    let properties = json!({ "itemTypeId": id, "itemTypeName": name, "attrs": attributes, "filters": filters });
    closed_object(&properties, &[])
}

/// The names of an object's attributes.
fn names_of(object: &BusinessObject) -> Vec<String> {
    object.attributes.iter().map(|attribute| attribute.name.clone()).collect()
}

/// `attrs` as an array of names, none twice.
fn array_of_attributes(names: &[String]) -> Value {
    json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": { "enum": names } })
}

/// `attrs` as an array of names or, as section 4.1 has it too, a text of them; none twice.
fn attributes(names: &[String]) -> Value {
    let name = format!(" *(?:{}) *", names.join("|"));
    // What must not follow is a name that comes again.
    let text = format!(r"^(?!.*\b(\w+)\b.*\b\1\b){name}(?:,{name})*$");
    json!({ "oneOf": [
        array_of_attributes(names),
        described("The names divided by commas.", json!({ "type": "string", "pattern": text })),
    ] })
}

/// The element of `filters.OR`: all of its conditions must hold.
fn group(and: &Value) -> Value {
    closed_object(&json!({ "AND": and }), &[])
}

fn groups(and: &Value) -> Value {
    let about = format!("At most {MAX_CONDITIONS} conditions in all; an element without conditions counts as one.");
    described(&about, json!({ "type": "array", "maxItems": MAX_CONDITIONS, "items": group(and) }))
}

fn customer_condition() -> Value {
    conditions::generic(AttributeKind::Text, &json!({ "enum": names_of(&BusinessObject::customer()) }))
}

/// The conditions of a promotion code search: each of the first three may be left out, the order stays.
fn positions() -> Value {
    let [audience_type, allocated_audience, code_status, allocated_time] = POSITIONED;
    let mut lists = vec![vec![allocated_time]];
    for earlier in [code_status, allocated_audience, audience_type] {
        let longer: Vec<Vec<&str>> = lists.iter().map(|later| [&[earlier], later.as_slice()].concat()).collect();
        lists.extend(longer);
    }
    let lists: Vec<Value> = lists.iter().map(|names| list_of(names)).collect();
    json!({ "oneOf": lists })
}

/// An array of exactly these, in this order.
fn list_of(names: &[&str]) -> Value {
    let items: Vec<Value> = names.iter().map(|name| reference(name)).collect();
    json!({ "type": "array", "prefixItems": items, "minItems": names.len(), "maxItems": names.len() })
}

fn used_on_a_day() -> impl Serialize {
    let condition = |column: &str, data_type: &str, operator: &str, value: Value| Condition {
        kind: Some(CODE_CONDITION_TYPE),
        column: column.to_owned(),
        data_type: data_type.to_owned(),
        operator: operator.to_owned(),
        extend_value: value.is_array().then(Vec::new),
        time_unit: value.is_number().then(|| TIME_UNIT.to_owned()),
        value,
        ..Condition::default()
    };
    let conditions = [
        condition("code_status", NUMBER, MATCHES, json!([4])),
        condition("allocated_time", DATETIME, EQUALS, json!(1_705_276_800_000_i64)),
    ];
    example(PROMOTION_CODE_ID, PROMOTION_CODE_NAME, &["id", "name", "last_used_time"], conditions)
}

fn two_customers() -> impl Serialize {
    let condition = Condition {
        column: "customer_id".to_owned(),
        data_type: STRING.to_owned(),
        operator: MATCHES.to_owned(),
        value_type: Some(VALUE_TYPE.to_owned()),
        value: json!(["demo-customer-0001", "demo-customer-0002"]),
        condition_type: Some(CONDITION_TYPE.to_owned()),
        ..Condition::default()
    };
    example(CUSTOMER_ID, CUSTOMER_NAME, &["customer_id", "name"], [condition])
}

fn example(id: i64, name: &str, attributes: &[&str], and: impl Into<Vec<Condition>>) -> SearchBody {
    SearchBody {
        item_type_id: id,
        item_type_name: name.to_owned(),
        attrs: Attributes::Names(attributes.iter().map(|name| (*name).to_owned()).collect()),
        filters: Filters { or: vec![Group { and: and.into() }] },
    }
}
