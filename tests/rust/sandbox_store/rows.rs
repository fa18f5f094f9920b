//! Declarations, and rows that are loaded, replaced and removed.

use super::{all_stores, empty, row, store};
use crate::support::{condition, items, search};
use dataaccess::sandbox::{AttributeKind, BusinessObject, Cell};
use serde_json::json;

#[test]
fn a_declaration_may_be_repeated_and_an_object_without_rows_declared_again() {
    let sandbox = empty();
    let message = |object: &BusinessObject| sandbox.declare(object).unwrap_err().summary();
    let customer = |attributes: &[(&str, AttributeKind)]| BusinessObject::new(-1003, "customer", attributes);
    sandbox.declare(&BusinessObject::customer()).unwrap();
    sandbox.declare(&customer(&[("customer_id", AttributeKind::Text), ("age", AttributeKind::Number)])).unwrap();
    sandbox.load("customer", [vec!["17".into(), 40.into()]]).unwrap();
    let body =
        items(-1003, "customer", &["age"], json!([{"AND": [condition("age", "number", "equals", json!([40]))]}]));
    assert_eq!(search(&sandbox, &body).records(), [json!({"age": 40})]);
    assert_eq!(message(&BusinessObject::customer()), "object `customer`: it is declared already with other attributes");
    let codes = BusinessObject::new(-100, "promotion_code", &[("id", AttributeKind::Text)]);
    assert_eq!(message(&codes), "object `promotion_code`: it is declared already with other attributes");
    let taken = BusinessObject::new(-1003, "client", &[("id", AttributeKind::Text)]);
    assert_eq!(message(&taken), "object `client`: its name or its id -1003 is taken by `customer` with id -1003");
    assert_eq!(message(&BusinessObject::new(8, "", &[])), "a business object needs a name");
    let twice = BusinessObject::new(8, "x", &[("a", AttributeKind::Text), ("a", AttributeKind::Text)]);
    assert_eq!(message(&twice), "object `x`: attribute `a` is declared twice");
}

#[test]
fn rows_are_loaded_all_or_none_and_the_one_that_does_not_fit_is_named() {
    let sandbox = empty();
    sandbox.declare(&store()).unwrap();
    let good = || row("a", 1, "2024-01-31 10:00:00");
    let message = |bad: Vec<Cell>| sandbox.load("store", [good(), bad]).unwrap_err().summary();
    for (bad, expected) in [
        (row("b", "12", "2024-01-31 10:00:00"), "attribute `area`: `12` is a string, not a number"),
        (row("b", u64::MAX, "2024-01-31 10:00:00"), "attribute `area`: 18446744073709551615 is beyond 64 bits"),
        (row("b", true, "2024-01-31 10:00:00"), "attribute `area`: true is a boolean, not a number"),
        (row("b", json!({"m": 1}), "2024-01-31 10:00:00"), "attribute `area`: {\"m\":1} is an object, not a number"),
        (row("b", 1, "2024-02-30 10:00:00"), "is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS"),
        (row("b", 1, "2024-1-31 10:00:00"), "is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS"),
        (vec![5.into(), 1.into(), Cell::Null], "attribute `id`: 5 is a number, not a string"),
        (vec![Cell::Null, 1.into(), Cell::Null], "the identifying attribute is null"),
        (vec!["b".into()], "1 cells for 3 attributes"),
        (good(), "its identifier `a` is taken; a load that replaces puts such rows in the place of the present ones"),
    ] {
        let line = message(bad);
        assert!(line.starts_with("object `store`, row 1: ") && line.ends_with(expected), "{line}");
    }
    assert!(all_stores(&sandbox).contains(r#""data":[]"#), "a load that failed left rows");
    let unknown = sandbox.load("stroe", [good()]).unwrap_err().summary();
    assert_eq!(
        unknown,
        "business object `stroe` is not declared; known: promotion_code, customer, store; add it with declare()"
    );
}

#[test]
fn rows_that_come_part_by_part_are_found_all_or_none() {
    let sandbox = empty();
    let customer = |id: &str| vec![id.into(), "x".into()];
    let customers = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    let found = || search(&sandbox, &customers).records().len();
    let mut dropped = sandbox.begin_load("customer").unwrap();
    dropped.add([customer("a")]).unwrap();
    drop(dropped);
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([customer("a")]).unwrap();
    // Neither a search nor another load waits for it.
    assert_eq!(sandbox.load("customer", [customer("z")]).unwrap(), 1);
    load.add([customer("b")]).unwrap();
    assert_eq!(found(), 1);
    assert_eq!(load.finish(false).unwrap(), 2);
    assert_eq!(found(), 3);
}

#[test]
fn rows_are_replaced_by_their_identifiers_and_taken_away() {
    let sandbox = empty();
    let customer = |id: &str, name: &str| vec![id.into(), name.into()];
    sandbox.load("customer", [customer("a", "old"), customer("b", "old")]).unwrap();
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([customer("c", "new"), customer("a", "first"), customer("a", "last")]).unwrap();
    assert_eq!(load.finish(true).unwrap(), 3);
    let everybody = items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]));
    let names = [("a", "last"), ("b", "old"), ("c", "new")];
    let expected = names.map(|(id, name)| json!({"customer_id": id, "name": name}));
    assert_eq!(search(&sandbox, &everybody).records(), expected);
    assert_eq!(sandbox.clear("customer").unwrap(), 3);
    assert_eq!(search(&sandbox, &everybody).records(), Vec::<serde_json::Value>::new());
    assert!(sandbox.clear("costumer").unwrap_err().summary().starts_with("business object `costumer` is not declared"));
}

#[test]
fn rows_for_an_object_that_is_declared_again_are_refused() {
    let sandbox = empty();
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([vec!["a".into(), "x".into()]]).unwrap();
    sandbox.declare(&BusinessObject::new(-1003, "customer", &[("id", AttributeKind::Text)])).unwrap();
    let message = load.finish(false).unwrap_err().summary();
    assert_eq!(message, "object `customer` was declared again while rows for it were loaded; load them again");
}

#[test]
fn a_row_in_json_is_an_object_of_declared_attributes() {
    let object = store();
    let good = json!({"opened": null, "id": "a"});
    assert_eq!(object.cells(0, good).unwrap(), [json!("a"), Cell::Null, Cell::Null]);
    for (row, expected) in [
        (json!({"id": "a", "colour": "red"}), "object `store`, row 7: it has no attribute `colour`"),
        (json!(["a"]), "object `store`, row 7: a row is an object, not [\"a\"]"),
    ] {
        assert_eq!(object.cells(7, row).unwrap_err().summary(), expected);
    }
}

#[test]
fn rows_are_listed_page_by_page_and_by_a_text_in_them() {
    let sandbox = empty();
    sandbox.declare(&store()).unwrap();
    let rows = [
        row("b", 2, "2024-01-31 10:00:00"),
        row("A\0%", 0.5, "2024-02-01 00:00:00"),
        row("c", 25, "2024-02-01 00:00:00"),
    ];
    sandbox.load("store", rows).unwrap();
    let ids = |limit, offset, contains: &str| {
        let (rows, total) = sandbox.rows("store", limit, offset, contains).unwrap();
        (rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" "), total)
    };
    assert_eq!(ids(10, 0, ""), ("A\0% b c".to_owned(), 3));
    assert_eq!(ids(1, 1, ""), ("b".to_owned(), 3));
    assert_eq!(ids(10, 5, ""), (String::new(), 3));
    for (contains, expected) in [("a\0", "A\0%"), ("%", "A\0%"), ("2024-02", "A\0% c"), ("25", "c"), ("' OR 1", "")] {
        assert_eq!(ids(10, 0, contains).0, expected, "{contains}");
    }
    let (rows, _) = sandbox.rows("store", 1, 0, "0.5").unwrap();
    assert_eq!(rows, [json!({"id": "A\0%", "area": 0.5, "opened": "2024-02-01 00:00:00"})]);
    assert!(sandbox.rows("stroe", 1, 0, "").unwrap_err().summary().contains("`stroe` is not declared"));
}
