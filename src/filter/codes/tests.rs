//! Each rule of a promotion code search, and the bodies of valid ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::contract::codes::{ATTRIBUTES, DEFAULT_ATTRIBUTES};
use crate::filter::sample::{after, before, days, input, locations, on, op, problem, problems};

fn checked(arguments: CodesArguments) -> Result<Search> {
    check(arguments, &Zone::default())
}

fn since_2024() -> CodesArguments {
    CodesArguments { allocated_time: after("2024-01-01"), ..CodesArguments::default() }
}

fn body(arguments: CodesArguments) -> Value {
    serde_json::to_value(checked(arguments).expect("a valid request").body).expect("a body")
}

/// The condition at a position.
fn condition(position: usize, arguments: CodesArguments) -> Value {
    body(arguments)["filters"]["OR"][0]["AND"][position].take()
}

/// The request has one problem, with this argument, path and advice.
fn refuses(arguments: CodesArguments, argument: &str, path: &str, advice: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((problem.argument.as_str(), problem.path.as_str()), (argument, path), "{problem}");
    assert!(problem.message.contains(advice), "{problem}");
}

/// The same, with the whole message.
fn refuses_with(arguments: CodesArguments, argument: &str, path: &str, message: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((&*problem.argument, &*problem.path, &*problem.message), (argument, path, message));
}

#[test]
fn a_full_request_has_the_specified_body() {
    let arguments = CodesArguments {
        attrs: input(json!(["id", "code_status"])),
        audience_type: input(json!(["customer", -1007])),
        allocated_audience: input(json!(["17", 42])),
        code_status: input(json!(["sent", 4, 1.0])),
        allocated_time: after("2024-01-01"),
        limit: InputValue::Integer(10),
        known_row_cap: InputValue::Null,
    };
    let search = checked(arguments).expect("a valid request");
    assert_eq!(
        serde_json::to_string(&search.body).expect("a body"),
        json!({
            "itemTypeId": -100,
            "itemTypeName": "promotion_code",
            "attrs": ["id", "code_status"],
            "filters": {"OR": [{"AND": [
                {"type": 2, "column": "audience_type", "data_type": "number", "operator": "matches",
                 "value": [-1003, -1007], "extendValue": []},
                {"type": 2, "column": "allocated_audience", "data_type": "string", "operator": "matches",
                 "value": ["17", "42"], "extendValue": []},
                {"type": 2, "column": "code_status", "data_type": "number", "operator": "matches",
                 "value": [3, 4, 1], "extendValue": []},
                {"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": "after_date",
                 "value": 1_704_067_200_000_i64, "time_unit": "DAY"},
            ]}]},
        })
        .to_string()
    );
    assert_eq!(*search.attributes, ["id", "code_status"]);
    assert_eq!(search.limit, Some(10));
}

#[test]
fn arguments_that_are_left_out_are_not_sent() {
    let body = body(since_2024());
    assert_eq!(body["filters"]["OR"][0]["AND"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["attrs"], json!(DEFAULT_ATTRIBUTES));
    assert_eq!(checked(since_2024()).map(|search| search.limit).expect("a valid request"), None);
}

#[test]
fn each_comparison_has_its_operator() {
    for (allocated_time, operator, milliseconds) in [
        (after("2024-01-01T12:00"), "after_date", 1_704_110_400_000_i64),
        (before(1_704_110_400_000_i64), "before_date", 1_704_110_400_000),
        (on("2024-01-01T12:00"), "equals", 1_704_067_200_000),
        (op("since", "2024-01-01T12:00"), "since", 1_704_110_400_000),
    ] {
        let condition = condition(0, CodesArguments { allocated_time, ..CodesArguments::default() });
        assert_eq!((&condition["operator"], &condition["value"]), (&json!(operator), &json!(milliseconds)));
    }
    let not_sent = condition(0, CodesArguments { code_status: op("not_matches", 3), ..since_2024() });
    assert_eq!((&not_sent["operator"], &not_sent["value"]), (&json!("not_matches"), &json!([3])));
}

#[test]
fn days_are_cut_in_the_zone_of_the_client() {
    let zone = Zone::try_new("Asia/Kathmandu").expect("a zone");
    let arguments = CodesArguments { allocated_time: on("2024-01-01"), ..CodesArguments::default() };
    let search = check(arguments, &zone).expect("a valid request");
    assert_eq!(search.body.filters.or[0].and[0].value, 1_704_046_500_000_i64);
}

/// A comparison with `unit=`.
fn in_unit(method: Method, value: InputValue, unit: &str) -> InputValue {
    InputValue::Comparison(Box::new(Comparison { unit: InputValue::text(unit), ..Comparison::new(method, value) }))
}

#[test]
fn a_unit_is_sent_as_given() {
    let allocated_time = in_unit(Method::After, InputValue::text("2024-01-01"), "HOUR");
    let condition = condition(0, CodesArguments { allocated_time, ..CodesArguments::default() });
    assert_eq!(condition["time_unit"], "HOUR");
}

#[test]
fn allocated_time_must_be_a_comparison_with_one_time() {
    for (allocated_time, advice) in [
        (InputValue::Null, "is required: write da.since(\"2024-01-01\")"),
        (
            InputValue::text("2024-01-01"),
            "use da.after(\"2024-01-01\"), da.before(\"2024-01-01\"), da.since(\"2024-01-01\") or da.on(\"2024-01-01\")",
        ),
        (InputValue::Moment("2024-01-01".to_owned()), "use da.after(2024-01-01)"),
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
        (input(json!(42.0)), "", "a pandas column with missing values"),
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
    assert_eq!(found.len(), 101);
    assert_eq!(found[100].message, "99900 more of its 100000 values have problems");
}

/// One value, or a list of one to four.
fn one_or_several(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop_oneof![value.clone(), prop::collection::vec(value, 1..5).prop_map(Value::Array)]
}

fn valid_requests() -> impl Strategy<Value = CodesArguments> {
    let audience_type = one_or_several(prop::sample::select(vec![json!(-1003), json!("visitor"), json!(-1007.0)]));
    let audience =
        one_or_several(prop_oneof!["[a-z0-9]{1,8}".prop_map(Value::from), any::<i64>().prop_map(Value::from)]);
    let status = one_or_several(prop::sample::select(vec![json!(1), json!("used"), json!("Sent"), json!(4.0)]));
    let time = (0..4_u8, 100_000_000_000..100_000_000_000_000_i64).prop_map(|(method, time)| match method {
        0 => after(time),
        1 => before(time),
        2 => on(time),
        _ => op("since", time),
    });
    let attrs = prop::sample::subsequence(ATTRIBUTES.to_vec(), 1..=11).prop_shuffle();
    (prop::option::of(audience_type), prop::option::of(audience), prop::option::of(status), time, attrs).prop_map(
        |(audience_type, audience, code_status, allocated_time, attrs)| CodesArguments {
            attrs: input(json!(attrs)),
            // Audience types need audience ids.
            audience_type: audience_type.filter(|_| audience.is_some()).map_or(InputValue::Null, input),
            allocated_audience: audience.map_or(InputValue::Null, input),
            code_status: code_status.map_or(InputValue::Null, input),
            allocated_time,
            limit: InputValue::Null,
            known_row_cap: InputValue::Null,
        },
    )
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

proptest! {
    #[test]
    fn every_valid_request_has_the_specified_keys_positions_and_types(arguments in valid_requests()) {
        let given = [&arguments.audience_type, &arguments.allocated_audience, &arguments.code_status];
        let expected: Vec<&str> = ["audience_type", "allocated_audience", "code_status"]
            .into_iter()
            .zip(given)
            .filter(|(_, input)| !input.is_null())
            .map(|(name, _)| name)
            .chain(["allocated_time"])
            .collect();
        let body = body(arguments);
        prop_assert_eq!(keys(&body), ["itemTypeId", "itemTypeName", "attrs", "filters"]);
        prop_assert_eq!(keys(&body["filters"]), ["OR"]);
        prop_assert_eq!(body["filters"]["OR"].as_array().map(Vec::len), Some(1));
        prop_assert_eq!(keys(&body["filters"]["OR"][0]), ["AND"]);
        let conditions = body["filters"]["OR"][0]["AND"].as_array().expect("conditions");
        let columns: Vec<&str> = conditions.iter().filter_map(|condition| condition["column"].as_str()).collect();
        prop_assert_eq!(columns, expected);
        for condition in conditions {
            prop_assert_eq!(&condition["type"], &json!(2));
            if condition["column"] == "allocated_time" {
                prop_assert_eq!(keys(condition), ["type", "column", "data_type", "operator", "value", "time_unit"]);
                prop_assert!(condition["value"].is_i64());
            } else {
                prop_assert_eq!(keys(condition), ["type", "column", "data_type", "operator", "value", "extendValue"]);
                let is_string = condition["data_type"] == "string";
                let values = condition["value"].as_array().expect("an array");
                let typed = values.iter().all(|value| if is_string { value.is_string() } else { value.is_i64() });
                prop_assert!(typed);
                prop_assert_eq!(&condition["extendValue"], &json!([]));
            }
        }
    }
}
