//! What each argument may be, and the problem reported for anything else.

use serde_json::{Value, json};

use super::{CodesArguments, body, checked, condition, in_unit, refuses, refuses_with, since_2024};
use crate::filter::input::{InputValue, Method};
use crate::filter::sample::{after, days, input, locations, op, problems};

#[test]
fn allocated_time_must_be_a_comparison_with_one_time() {
    for (allocated_time, advice) in [
        (InputValue::Null, "is required: write da.since(\"2024-01-01\")"),
        (InputValue::text("2024-01"), "da.month(\"2024-01\")"),
        (
            InputValue::text("2024-01-01"),
            "use da.after(\"2024-01-01\"), da.before(\"2024-01-01\"), da.since(\"2024-01-01\"), da.until(\"2024-01-01\") or \
             da.on(\"2024-01-01\")",
        ),
        (InputValue::Moment("2024-01-01".to_owned()), "use da.after(\"2024-01-01\")"),
        (InputValue::Integer(1_704_067_200_000), "use da.after(1704067200000)"),
        (input(json!(["2024-01-01", "2024-02-01"])), "one time, not a list"),
        (after(json!(["2024-01-01"])), "one time, not a list"),
        (op("matches", json!(["2024-01-01"])), "one time, not a list"),
        (days("2024-01-01", "2024-04-01"), "client.scan_codes(allocated_time=days(\"2024-01-01\", \"2024-04-01\"))"),
        (after(1_704_067_200), "write 1704067200000"),
        (after(1_704_067_200_000_000_i64), "write 1704067200000"),
        (after(1_704_067_200_000.0), "write milliseconds as an int"),
        (after("01/02/2024"), "\"01/02/2024\" is not ISO 8601"),
        (after(Value::Null), "None is not a time"),
        (after(true), "True is a bool, not a time"),
    ] {
        let arguments = CodesArguments { allocated_time, ..CodesArguments::default() };
        refuses(arguments, "allocated_time", "filters.OR[0].AND[0].value", advice);
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
    refuses(arguments, "audience_type[1]", "filters.OR[0].AND[0].value[1]", "-1004 is not a value of audience_type");
}

#[test]
fn statuses_are_the_specified_ones() {
    let value = "filters.OR[0].AND[0].value";
    for (code_status, element, advice) in [
        (input(json!(2)), "", "2 is not a value of code_status"),
        (input(json!(true)), "", "True is not a value of"),
        (input(json!(3.5)), "", "3.5 is not a value of"),
        (input(json!("sents")), "", "did you mean \"sent\"?"),
        (input(json!("3")), "", "\"3\" is not a value of"),
        (input(json!([[3]])), "[0]", "[3] is not a value of"),
        (input(json!([])), "", "an empty list matches nothing"),
        (input(json!([null])), "[0]", "None is not a value of"),
        (after("2024-01-01"), "", "after(…) compares times, and code_status is not a time"),
        (days("2024-01-01", "2024-01-02"), "", "days(…) is a range of times, and code_status is not a time"),
    ] {
        let arguments = CodesArguments { code_status, ..since_2024() };
        refuses(arguments, &format!("code_status{element}"), &format!("{value}{element}"), advice);
    }
    for (code_status, argument, path, message) in [
        (
            op("not_matches", json!([3, "sent"])),
            "code_status[1]",
            "value[1]",
            "values of an operator are sent as given: write 3, not \"sent\"",
        ),
        (
            op("not_matches", 2),
            "code_status",
            "value",
            "2 is not a value of code_status: 1 (\"available\"), 3 (\"sent\"), 4 (\"used\")",
        ),
        (op(" ", 3), "code_status", "operator", "an empty string is not an operator"),
        (
            in_unit(Method::Operator(InputValue::text("in")), InputValue::Integer(3), "DAY"),
            "code_status",
            "time_unit",
            "a time unit needs data_type datetime, not number",
        ),
    ] {
        let arguments = CodesArguments { code_status, ..since_2024() };
        refuses_with(arguments, argument, &format!("filters.OR[0].AND[0].{path}"), message);
    }
}

#[test]
fn audience_ids_are_strings_or_integers() {
    let value = "filters.OR[0].AND[0].value";
    for (allocated_audience, element, advice) in [
        (input(json!(42.0)), "", "read the column as strings"),
        (input(json!([null])), "[0]", "missing value"),
        (input(json!(true)), "", "True is a bool"),
        (input(json!("")), "", "an empty string is not the id"),
        (input(json!({"id": 1})), "", "is a dict"),
    ] {
        let arguments = CodesArguments { allocated_audience, ..since_2024() };
        refuses(arguments, &format!("allocated_audience{element}"), &format!("{value}{element}"), advice);
    }
    let missing = InputValue::List(vec![InputValue::Number(f64::NAN)]);
    let arguments = CodesArguments { allocated_audience: missing, ..since_2024() };
    let message = "nan is a missing value, not an id: leave such values out, as ids.dropna() does";
    refuses_with(arguments, "allocated_audience[0]", &format!("{value}[0]"), message);
    let big = InputValue::BigInteger("18446744073709551616".to_owned());
    let condition = condition(0, CodesArguments { allocated_audience: big, ..since_2024() });
    assert_eq!(condition["value"], json!(["18446744073709551616"]));
}

#[test]
fn attributes_are_the_specified_ones() {
    for (attrs, argument, advice) in [
        (json!(["id", "pool"]), "attrs[1]", "did you mean \"pool_id\"?"),
        (json!("zzz"), "attrs", "they are id, name, pool_id"),
        (json!(["id", "name", "id"]), "attrs[2]", "\"id\" is named twice"),
        (json!([]), "attrs", "name at least one"),
        (json!([3]), "attrs[0]", "3 is an integer, not the name of an attribute"),
    ] {
        refuses(CodesArguments { attrs: input(attrs), ..since_2024() }, argument, argument, advice);
    }
    let one = CodesArguments { attrs: InputValue::text("channel_id"), ..since_2024() };
    assert_eq!(body(one)["attrs"], json!(["channel_id"]));
}

#[test]
fn a_limit_is_a_count() {
    for (limit, advice) in [
        (json!(0), "0 is less than 1"),
        (json!(-5), "-5 is less than 1"),
        (json!(true), "True is a bool"),
        (json!(2.0), "2.0 is a float"),
        (json!("10"), "\"10\" is a string"),
    ] {
        refuses(CodesArguments { limit: input(limit), ..since_2024() }, "limit", "", advice);
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
    assert_eq!(found[3].message, "99997 more of its 100000 values have such problems");
}
