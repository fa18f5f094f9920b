//! The calls and responses of `tests/json/contract.json`, as the core reads them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use dataaccess::cells::Cells;
use dataaccess::client::{Client, Delivery, DeliveryMode, SearchMode, TimeoutScope};
use dataaccess::config::{Arguments, Settings};
use dataaccess::error::Result;
use dataaccess::filter::codes::{self, CodesArguments};
use dataaccess::filter::items::{self, ItemsArguments};
use dataaccess::filter::{
    ColumnCondition, Comparison, Days, InputValue, Method, Plan, Search, Tree, VALUES_PER_REQUEST, export,
};
use dataaccess::secret::Secret;
use dataaccess::time::{Calendar, DayComparison, Moment, Zone};
use serde_json::{Value, json};

/// 2024-01-16T20:00Z, as in `tests/python/support/contract.py`.
const NOW: i64 = 1_705_435_200_000;

fn cases(list: &str) -> Vec<Value> {
    let contract: Value = serde_json::from_str(include_str!("../json/contract.json")).unwrap();
    let reads = |case: &Value| case["not"].as_array().is_none_or(|not| !not.contains(&json!("rust")));
    contract[list].as_array().unwrap().iter().filter(|case| reads(case)).cloned().collect()
}

#[test]
fn a_call_has_the_body_or_the_problems_of_the_contract() {
    let cases = cases("calls");
    assert!(cases.len() > 150);
    for case in cases {
        let expected = case.get("bodies").or(case.get("problems")).unwrap();
        let found = bodies(&case).unwrap_or_else(|error| {
            let problems = error.problems().iter();
            problems.map(|problem| json!([problem.argument, problem.path, problem.value])).collect()
        });
        assert_eq!(&Value::from(found), expected, "{}", case["name"]);
    }
}

fn bodies(case: &Value) -> Result<Vec<Value>> {
    let (arguments, client, calendar) = (&case["arguments"], &case["client"], calendar(&case["client"]));
    let argument = |name: &str| condition(&arguments[name]);
    let codes = || CodesArguments {
        attrs: argument("attrs"),
        allocated_time: argument("allocated_time"),
        audience_type: argument("audience_type"),
        allocated_audience: argument("allocated_audience"),
        code_status: argument("code_status"),
        limit: argument("limit"),
        ..CodesArguments::default()
    };
    let items = || ItemsArguments {
        item_type_name: argument("item_type_name"),
        attrs: argument("attrs"),
        where_clause: argument("where"),
        item_type_id: argument("item_type_id"),
        attrs_format: input(&client["attrs_format"]),
        ..ItemsArguments::default()
    };
    Ok(match case["call"].as_str().unwrap() {
        "search_codes" => vec![body(&codes::check(codes(), &calendar)?)],
        "search_items" => vec![body(&items::check(items(), &calendar)?)],
        "scan_codes" => of_plan(&codes::plan(codes(), VALUES_PER_REQUEST, &calendar)?),
        "scan_items" => of_plan(&items::plan(items(), VALUES_PER_REQUEST, &calendar)?),
        _ => vec![serde_json::to_value(export::check(&argument("export_id"))?).unwrap()],
    })
}

fn of_plan(plan: &Plan) -> Vec<Value> {
    (0..plan.requests()).map(|index| body(&plan.search(index))).collect()
}

fn body(search: &Search) -> Value {
    serde_json::to_value(&search.body).unwrap()
}

fn calendar(client: &Value) -> Calendar {
    let zone = Zone::try_new(client["timezone"].as_str().unwrap_or("UTC")).unwrap();
    let is_inclusive = client["day_comparison"] == "inclusive";
    let comparison = if is_inclusive { DayComparison::Inclusive } else { DayComparison::Exclusive };
    Calendar { comparison, now: Moment::at(NOW), ..Calendar::new(zone) }
}

/// A condition as JSON has it, or another value.
fn condition(value: &Value) -> InputValue {
    let Some(fields) = value.as_object().filter(|fields| !fields.contains_key("OR")) else { return input(value) };
    if fields.contains_key("col") || fields.contains_key("all") || fields.contains_key("any") {
        return InputValue::Expression(Box::new(tree(value)));
    }
    let Some((name, Value::Array(arguments))) = fields.iter().find(|(name, _)| *name != "unit") else {
        return input(value);
    };
    let argument = |index: usize| arguments.get(index).map(condition).unwrap_or_default();
    InputValue::Days(Box::new(match name.as_str() {
        "days" => Days::Range { start: argument(0), stop: argument(1) },
        "month" => Days::Month(argument(0)),
        "last_days" => Days::Last(argument(0)),
        "yesterday" => Days::Yesterday,
        _ => return InputValue::Comparison(Box::new(comparison(value))),
    }))
}

fn tree(value: &Value) -> Tree<ColumnCondition> {
    let parts = |name: &str| value[name].as_array().map(|parts| parts.iter().map(tree).collect());
    if let Some(parts) = parts("all") {
        return Tree::All(parts);
    }
    if let Some(parts) = parts("any") {
        return Tree::Any(parts);
    }
    let leaf = |comparison| Tree::Leaf(ColumnCondition { column: input(&value["col"]), comparison });
    if let Some([first, last]) = value["between"].as_array().map(Vec::as_slice) {
        let ends = [(Method::Since, first), (Method::Until, last)];
        return Tree::All(ends.map(|(method, day)| leaf(Comparison::new(method, input(day)))).into());
    }
    leaf(comparison(value))
}

fn comparison(value: &Value) -> Comparison {
    let options = ["col", "unit", "data_type"];
    let (name, arguments) =
        value.as_object().unwrap().iter().find(|(name, _)| !options.contains(&name.as_str())).unwrap();
    let method = match name.as_str() {
        "matches" => Method::Matches,
        "equals" => Method::Equals,
        "after" => Method::After,
        "before" => Method::Before,
        "since" => Method::Since,
        "until" => Method::Until,
        "on" => Method::On,
        _ => Method::Operator(input(&arguments[0])),
    };
    let compared = condition(arguments.as_array().unwrap().last().unwrap());
    Comparison {
        unit: input(&value["unit"]),
        data_type: input(&value["data_type"]),
        ..Comparison::new(method, compared)
    }
}

/// The value of Python that JSON has.
fn input(value: &Value) -> InputValue {
    match value {
        Value::Null => InputValue::Null,
        Value::Bool(flag) => InputValue::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => InputValue::Integer(integer),
            (None, Some(large)) => InputValue::BigInteger(large.to_string()),
            _ => InputValue::Number(number.as_f64().unwrap()),
        },
        Value::String(text) => InputValue::text(text),
        Value::Array(values) => InputValue::List(values.iter().map(input).collect()),
        Value::Object(fields) => {
            InputValue::Map(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[test]
fn a_response_has_the_verdict_of_the_contract() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let cases = cases("responses");
    assert!(cases.len() > 80);
    for case in cases {
        let verdict = &case["verdict"];
        match runtime.block_on(rows(&case)) {
            Ok(rows) => assert_eq!(Some(rows), verdict["rows"].as_array().map(Vec::len), "{}", case["name"]),
            Err(error) => {
                let reason = error.kind().reason().map_or(Value::Null, Value::from);
                let found = (json!(error.kind().class_name()), json!(error.is_retryable()), &reason);
                let expected = (verdict["error"].clone(), verdict["retryable"].clone(), &verdict["fields"]["reason"]);
                assert_eq!(found, expected, "{}", case["name"]);
            }
        }
    }
}

/// How many rows a search has whose response is this.
async fn rows(case: &Value) -> Result<usize> {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = Some(format!("http://{}", service.local_addr().unwrap()));
    let response = response(case);
    let serving = thread::spawn(move || {
        let (mut stream, _) = service.accept().unwrap();
        let mut request = vec![0; 65_536];
        let mut length = 0;
        // The end of the body.
        while !request[..length].ends_with(b"}}") {
            length += stream.read(&mut request[length..]).unwrap();
        }
        stream.write_all(&response).unwrap();
    });
    let arguments = Arguments { base_url, retry_for: 0.0, ..Arguments::default() };
    let token = Secret::try_new("tok".to_owned())?;
    let client = Client::try_new(Settings::resolve(arguments, |_| None)?, Arc::new(token), None)?;
    let search = codes::check(
        CodesArguments {
            attrs: InputValue::text("id"),
            allocated_time: condition(&json!({"on": ["2024-01-15"]})),
            ..CodesArguments::default()
        },
        &Calendar::default(),
    )?;
    let mode = SearchMode {
        operation: "search_codes",
        delivery: DeliveryMode::Complete,
        scope: TimeoutScope::whole(),
        timeout: None,
        is_patient: false,
        token_wait: None,
    };
    let delivery = Delivery::new(0, mode.delivery, Arc::new(client.buffer()));
    let found = client.search(mode, &search, &|| Cells::new(1), &delivery).await;
    serving.join().unwrap();
    Ok(usize::try_from(found?.envelope.records).unwrap())
}

/// The bytes of a response, as `raw` of `tests/python/support/contract.py` makes them.
fn response(case: &Value) -> Vec<u8> {
    let body = unescaped(case["bytes"].as_str().unwrap());
    let length = body.len().to_string();
    let mut headers = vec![("Content-Type", "application/json"), ("Content-Length", &length)];
    for (name, value) in case["headers"].as_object().into_iter().flatten() {
        headers.retain(|(given, _)| given != name);
        headers.push((name, value.as_str().unwrap()));
    }
    headers.retain(|(_, value)| !value.is_empty());
    let mut head = vec![format!("HTTP/1.1 {}", case["status"].as_str().unwrap())];
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    [head.join("\r\n").into_bytes(), b"\r\n\r\n".to_vec(), body].concat()
}

/// The bytes of a text in which `<FF 00>` are bytes.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('<');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (codes, rest) = part.split_once('>').unwrap_or_default();
        match codes.split(' ').map(|code| u8::from_str_radix(code, 16)).collect::<Result<Vec<_>, _>>() {
            Ok(codes) => bytes.extend([&codes, rest.as_bytes()].concat()),
            Err(_) => bytes.extend([b"<", part.as_bytes()].concat()),
        }
    }
    bytes
}
