//! The search of other objects.

use super::empty;
use crate::support::{condition, items, milliseconds, search};
use dataaccess::sandbox::{AttributeKind, BusinessObject, Cell, Sandbox};
use serde_json::{Value, json};

fn with_things() -> Sandbox {
    let sandbox = empty();
    let kinds = [("key", AttributeKind::Number), ("text", AttributeKind::Text), ("at", AttributeKind::Datetime)];
    sandbox.declare(&BusinessObject::new(7, "thing", &kinds)).unwrap();
    let row = |key: Cell, text: &str| vec![key, text.into(), "2024-01-31 10:00:00".into()];
    let rows = [
        row(9_007_199_254_740_992_i64.into(), "10"),
        row(9_007_199_254_740_993_i64.into(), "a\0b"),
        row(i64::MIN.into(), "a"),
        row(0.1.into(), "\u{1}\u{7f}\"\\/é\u{10ffff}"),
    ];
    sandbox.load("thing", rows).unwrap();
    sandbox
}

fn things(sandbox: &Sandbox, attr: &str, or: Value) -> Vec<Value> {
    let records = search(sandbox, &items(7, "thing", &[attr], or)).records();
    records.iter().map(|record| record[attr].clone()).collect()
}

#[test]
fn values_come_back_as_they_were_loaded_and_are_found_by_themselves_alone() {
    let sandbox = with_things();
    let all = things(&sandbox, "key", json!([{"AND": []}]));
    assert_eq!(all, [json!(i64::MIN), json!(0.1), json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_993_i64)]);
    for key in all {
        let found = things(&sandbox, "key", json!([{"AND": [condition("key", "number", "matches", json!([key]))]}]));
        assert_eq!(found, [key]);
    }
    for text in ["10", "a\0b", "a", "\u{1}\u{7f}\"\\/é\u{10ffff}"] {
        for values in [json!([text]), json!(["none", text, "no\0ne"])] {
            let found = things(&sandbox, "text", json!([{"AND": [condition("text", "string", "matches", values)]}]));
            assert_eq!(found, [json!(text)]);
        }
    }
    let numeral = json!([{"AND": [condition("text", "number", "matches", json!([10]))]}]);
    assert_eq!(search(&sandbox, &items(7, "thing", &["key"], numeral)).status, 400, "a number was taken for a text");
}

#[test]
fn a_text_with_a_zero_character_is_written_with_its_escape() {
    let found = json!([{"AND": [condition("text", "string", "equals", json!(["a\0b"]))]}]);
    let reply = search(&with_things(), &items(7, "thing", &["text"], found));
    assert!(reply.text().contains(r#"[{"text":"a\u0000b"}]"#), "{}", reply.text());
}

#[test]
fn texts_with_a_zero_character_may_be_as_many_as_others() {
    let sandbox = with_things();
    for (conditions, values) in [(100, 1_000), (10_000, 3)] {
        let mut texts: Vec<String> = (1..values).map(|number| format!("\0{number}")).collect();
        texts.push("a\0b".to_owned());
        let one = condition("text", "string", "matches", json!(texts));
        let found = things(&sandbox, "text", json!([{"AND": vec![one; conditions]}]));
        assert_eq!(found, ["a\0b"], "{conditions} conditions");
    }
}

#[test]
fn a_generic_search_joins_conditions_by_and_and_groups_by_or() {
    let sandbox = with_things();
    let text = |value: &str| condition("text", "string", "equals", json!([value]));
    let at = |operator: &str| condition("at", "datetime", operator, json!(milliseconds("2024-01-31T00:00:00Z")));
    let found = |or: Value| things(&sandbox, "text", or);
    assert_eq!(found(json!([{"AND": [text("a"), at("equals")]}, {"AND": [text("10")]}])), ["a", "10"]);
    assert!(found(json!([{"AND": [text("a"), at("after_date")]}])).is_empty());
    assert!(found(json!([])).is_empty());
}

#[test]
fn a_broken_rule_of_a_generic_search_is_a_400_that_names_the_place() {
    let sandbox = with_things();
    let found = |name: &str, value: Value| {
        let mut one = condition("text", "string", "matches", json!(["a"]));
        match value {
            Value::Null => drop(one.as_object_mut().unwrap().remove(name)),
            value => one[name] = value,
        }
        search(&sandbox, &items(7, "thing", &["key"], json!([{"AND": [one]}])))
    };
    for (name, value, expected) in [
        ("column", Value::Null, "filters.OR[0].AND[0]: `column` is required"),
        ("column", json!("txet"), "filters.OR[0].AND[0].column: `thing` has no attribute `txet`"),
        ("data_type", json!("text"), "filters.OR[0].AND[0].data_type: \"text\" is not `string`, which `text` is"),
        ("operator", json!("contains"), "filters.OR[0].AND[0].operator: \"contains\" is not an operator of a string"),
        ("value_type", Value::Null, "filters.OR[0].AND[0]: `value_type` is required"),
        (
            "value_type",
            json!("other"),
            "filters.OR[0].AND[0].value_type: \"other\" is not `normal`, the only documented value",
        ),
        ("condition_type", Value::Null, "filters.OR[0].AND[0]: `condition_type` is required"),
        ("condition_type", json!("x"), "filters.OR[0].AND[0].condition_type: \"x\" is not `comp_attr`"),
        ("value", json!("a"), "filters.OR[0].AND[0].value: \"a\" is not an array"),
        ("value", json!([null]), "filters.OR[0].AND[0].value[0]: null is not a string"),
        ("type", json!(2), "filters.OR[0].AND[0]: `type` is not known here"),
    ] {
        let reply = found(name, value);
        assert_eq!(reply.status, 400, "{expected}");
        assert!(reply.message().starts_with(expected), "{}", reply.message());
    }
    let equals = json!([{"AND": [condition("text", "string", "equals", json!(["a", "b"]))]}]);
    let reply = search(&sandbox, &items(7, "thing", &["key"], equals));
    assert!(reply.message().contains("equals compares with exactly one value"), "{}", reply.message());
    let reply = search(&sandbox, &items(8, "thing", &["key"], json!([])));
    assert_eq!(reply.message(), "itemTypeId: there is no object with id 8 and itemTypeName `thing`");
}

#[test]
fn bools_and_lists_are_written_as_json_and_have_no_conditions() {
    let sandbox = empty();
    let kinds = [("id", AttributeKind::Text), ("is_open", AttributeKind::Bool), ("tags", AttributeKind::List)];
    sandbox.declare(&BusinessObject::new(9, "tagged", &kinds)).unwrap();
    let row = |id: &str, is_open: Cell, tags: Cell| vec![id.into(), is_open, tags];
    let tags = json!(["x", "a\0b\"", 1, 0.5, i64::MIN]);
    let rows =
        [row("a", true.into(), tags.clone()), row("b", false.into(), json!([])), row("c", Cell::Null, Cell::Null)];
    sandbox.load("tagged", rows).unwrap();
    let all = search(&sandbox, &items(9, "tagged", &["tags", "is_open"], json!([{"AND": []}]))).records();
    let expected = [(tags, json!(true)), (json!([]), json!(false)), (Cell::Null, Cell::Null)];
    assert_eq!(all, expected.map(|(tags, is_open)| json!({"tags": tags, "is_open": is_open})));
    for (name, kind, data_type, value) in [
        ("tags", "list", "list", json!(["x"])),
        ("tags", "list", "string", json!(["x"])),
        ("is_open", "bool", "bool", json!([true])),
    ] {
        let or = json!([{"AND": [condition(name, data_type, "matches", value)]}]);
        let reply = search(&sandbox, &items(9, "tagged", &["id"], or));
        let expected = format!("filters.OR[0].AND[0].column: `{name}` is a {kind}: no condition on one is documented");
        assert_eq!((reply.status, reply.message()), (400, expected));
    }
    let refused = |is_open: Cell, tags: Cell| sandbox.load("tagged", [row("d", is_open, tags)]).unwrap_err().summary();
    assert!(refused(json!("true"), Cell::Null).ends_with("attribute `is_open`: `true` is a string, not a bool"));
    assert!(refused(Cell::Null, json!("x")).ends_with("attribute `tags`: `x` is a string, not a list"));
    for element in [Cell::Null, json!(true), json!([]), json!({}), json!(u64::MAX)] {
        let list = json!(["x", element]);
        let expected =
            format!("attribute `tags`: {list} has {element}, which is neither a string nor a number of 64 bits");
        assert!(refused(Cell::Null, list).ends_with(&expected));
    }
    let by_list = BusinessObject::new(10, "listed", &[("tags", AttributeKind::List)]);
    let message = sandbox.declare(&by_list).unwrap_err().summary();
    assert_eq!(message, "object `listed`: attribute `tags` identifies a record, so it cannot be a list");
}
