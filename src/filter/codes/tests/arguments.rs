//! What each argument may be, and the problem reported for anything else.

use serde_json::{Value, json};

use super::{CodesArguments, body, checked, condition, in_unit, refuses, since_2024};
use crate::filter::input::{InputValue, Method};
use crate::filter::tests::{after, days, input, locations, op, problems};

#[test]
fn allocated_time_must_be_a_comparison_with_one_time() {
    for (allocated_time, datum) in [
        (InputValue::Null, "da.since(\"2024-01-01\")"),
        (InputValue::text("2024-01"), "da.month(\"2024-01\")"),
        (InputValue::text("2024-01-01"), "da.on(\"2024-01-01\")"),
        (InputValue::Moment("2024-01-01".to_owned()), "da.after(\"2024-01-01\")"),
        (InputValue::Integer(1_704_067_200_000), "da.after(1704067200000)"),
        (input(json!(["2024-01-01", "2024-02-01"])), "list"),
        (after(json!(["2024-01-01"])), "list"),
        (op("matches", json!(["2024-01-01"])), "list"),
        (days("2024-01-01", "2024-04-01"), "client.scan_codes(allocated_time=days(\"2024-01-01\", \"2024-04-01\"))"),
        (after(1_704_067_200), "2024-01-01T00:00:00Z"),
        (after(1_704_067_200_000_000_i64), "2024-01-01T00:00:00Z"),
        (after(1_704_067_200_000.0), "milliseconds"),
        (after("01/02/2024"), "\"01/02/2024\""),
        (after(Value::Null), "None"),
        (after(true), "bool"),
    ] {
        let arguments = CodesArguments { allocated_time, ..CodesArguments::default() };
        refuses(arguments, "allocated_time", "filters.OR[0].AND[0].value", datum);
    }
}

#[test]
fn audience_types_need_audience_ids() {
    let arguments = CodesArguments { audience_type: InputValue::text("customer"), ..since_2024() };
    refuses(arguments, "audience_type", "filters.OR[0].AND[0]", "silently");
    let arguments = CodesArguments {
        audience_type: input(json!([-1003, -1004])),
        allocated_audience: InputValue::text("17"),
        ..since_2024()
    };
    refuses(arguments, "audience_type[1]", "filters.OR[0].AND[0].value[1]", "-1004");
}

#[test]
fn statuses_are_the_specified_ones() {
    let in_days = in_unit(Method::Operator(InputValue::text("in")), InputValue::Integer(3), "DAY");
    for (code_status, member, element, datum) in [
        (input(json!(2)), "value", "", "1 (\"available\"), 3 (\"sent\"), 4 (\"used\")"),
        (input(json!(true)), "value", "", "True"),
        (input(json!(3.5)), "value", "", "3.5"),
        (input(json!("sents")), "value", "", "mean \"sent\""),
        (input(json!("3")), "value", "", "\"3\""),
        (input(json!([[3]])), "value", "[0]", "[3]"),
        (input(json!([])), "value", "", "empty"),
        (input(json!([null])), "value", "[0]", "None"),
        (after("2024-01-01"), "value", "", "after(…)"),
        (days("2024-01-01", "2024-01-02"), "value", "", "days(…)"),
        (op("not_matches", json!([3, "sent"])), "value", "[1]", "3, not \"sent\""),
        (op("not_matches", 2), "value", "", "1 (\"available\"), 3 (\"sent\"), 4 (\"used\")"),
        (op(" ", 3), "operator", "", "empty"),
        (in_days, "time_unit", "", "datetime, not number"),
    ] {
        let arguments = CodesArguments { code_status, ..since_2024() };
        let path = format!("filters.OR[0].AND[0].{member}{element}");
        refuses(arguments, &format!("code_status{element}"), &path, datum);
    }
}

#[test]
fn audience_ids_are_strings_or_integers() {
    let value = "filters.OR[0].AND[0].value";
    for (allocated_audience, element, datum) in [
        (input(json!(42.0)), "", "strings"),
        (input(json!([null])), "[0]", "missing"),
        (input(json!(true)), "", "bool"),
        (input(json!("")), "", "empty"),
        (input(json!({"id": 1})), "", "dict"),
        (InputValue::List(vec![InputValue::Number(f64::NAN)]), "[0]", "ids.dropna()"),
    ] {
        let arguments = CodesArguments { allocated_audience, ..since_2024() };
        refuses(arguments, &format!("allocated_audience{element}"), &format!("{value}{element}"), datum);
    }
    let big = InputValue::BigInteger("18446744073709551616".to_owned());
    let condition = condition(0, CodesArguments { allocated_audience: big, ..since_2024() });
    assert_eq!(condition["value"], json!(["18446744073709551616"]));
}

#[test]
fn attributes_are_the_specified_ones() {
    for (attrs, argument, datum) in [
        (json!(["id", "pool"]), "attrs[1]", "mean \"pool_id\""),
        (json!("zzz"), "attrs", "id, name, pool_id"),
        (json!(["id", "name", "id"]), "attrs[2]", "\"id\""),
        (json!([]), "attrs", "least"),
        (json!([3]), "attrs[0]", "integer"),
    ] {
        refuses(CodesArguments { attrs: input(attrs), ..since_2024() }, argument, argument, datum);
    }
    let one = CodesArguments { attrs: InputValue::text("channel_id"), ..since_2024() };
    assert_eq!(body(one)["attrs"], json!(["channel_id"]));
}

#[test]
fn a_limit_is_a_count() {
    for (limit, datum) in
        [(json!(0), "0"), (json!(-5), "-5"), (json!(true), "bool"), (json!(2.0), "float"), (json!("10"), "string")]
    {
        refuses(CodesArguments { limit: input(limit), ..since_2024() }, "limit", "", datum);
    }
}

#[test]
fn the_problems_of_all_arguments_are_reported_together() {
    let found = problems(checked(CodesArguments {
        attrs: input(json!(["id", "nmae"])),
        allocated_time: InputValue::Null,
        audience_type: input(json!(["customer", "robot"])),
        allocated_audience: InputValue::Null,
        code_status: input(json!([1, 2, 9])),
        limit: InputValue::Integer(0),
        known_row_cap: InputValue::Number(1.5),
    }));
    assert_eq!(
        locations(&found),
        [
            ("attrs[1]", "attrs[1]"),
            ("audience_type", "filters.OR[0].AND[0]"),
            ("audience_type[1]", "filters.OR[0].AND[0].value[1]"),
            ("code_status[1]", "filters.OR[0].AND[1].value[1]"),
            ("code_status[2]", "filters.OR[0].AND[1].value[2]"),
            ("allocated_time", "filters.OR[0].AND[2].value"),
            ("limit", ""),
            ("known_row_cap", ""),
        ]
    );
}

#[test]
fn a_long_list_of_invalid_values_is_cut_short() {
    let ids = InputValue::List(vec![InputValue::Null; 100_000]);
    let found = problems(checked(CodesArguments { allocated_audience: ids, ..since_2024() }));
    assert_eq!(found.len(), 4);
    assert!(found[3].message.contains("99997") && found[3].message.contains("100000"), "{}", found[3]);
}
