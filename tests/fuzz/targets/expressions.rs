//! Expressions of conditions: the sandbox, which reads the body on its own, finds the rows for which the expression is
//! true; and so do the requests of a scan together, each row once. So do the parts of a request.

#![no_main]

use std::cell::RefCell;

use arbitrary::Arbitrary;
use dataaccess::error::{Kind, Result};
use dataaccess::filter::items::{self, ItemsArguments};
use dataaccess::filter::{ColumnCondition, Comparison, Days, InputValue, Method, Search, SearchParts, Tree};
use dataaccess::sandbox::{AttributeKind, BusinessObject};
use dataaccess::time::{Calendar, DayComparison};
use dataaccess_fuzz::service::{SEARCH, Service};
use serde_json::{Value, json};

const TEXTS: [&str; 5] = ["a", "A", "", "é\"\\\u{1}", "a key, with a comma"];
const NUMBERS: [f64; 5] = [0.0, 1.0, -1.0, 2.5, 1e15];
/// The hours of a row after 2024-01-13, which is day 0.
const HOURS: [u32; 6] = [0, 23, 24, 47, 49, 96];
const DAYS: u32 = 6;

/// Object and rows: text, number and hour of each, null beyond the last one.
#[derive(Clone, Copy)]
struct Row {
    text: usize,
    number: usize,
    hour: usize,
}

#[derive(Arbitrary, Debug)]
enum Node {
    Leaf(Leaf),
    All(Vec<Node>),
    Any(Vec<Node>),
}

#[derive(Arbitrary, Debug)]
enum Leaf {
    /// `matches`, or `equals` of the first.
    Text(Vec<u8>, bool),
    Number(Vec<u8>, bool),
    Time(When, u8),
    /// `on(days(start, stop))`.
    Days(u8, u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum When {
    After,
    Before,
    Since,
    Until,
    On,
}

#[derive(Arbitrary, Debug)]
struct Input {
    tree: Node,
    is_inclusive: bool,
    values_per_request: u8,
}

thread_local! {
    static SERVICES: RefCell<[Service; 2]> = RefCell::new([service("exclusive"), service("inclusive")]);
}

fn rows() -> Vec<Row> {
    let (mut rows, mut number) = (Vec::new(), 0);
    for text in 0..=TEXTS.len() {
        for hour in 0..=HOURS.len() {
            rows.push(Row { text, number: number % (NUMBERS.len() + 1), hour });
            number += 1;
        }
    }
    rows
}

fn service(day_comparison: &str) -> Service {
    let service = Service::default();
    let kinds = [
        ("id", AttributeKind::Number),
        ("text", AttributeKind::Text),
        ("number", AttributeKind::Number),
        ("at", AttributeKind::Datetime),
    ];
    let cells = rows().into_iter().enumerate().map(|(id, row)| {
        let at = HOURS.get(row.hour).map(|hour| format!("2024-01-{:02} {:02}:30:00", 13 + hour / 24, hour % 24));
        vec![json!(id), json!(TEXTS.get(row.text)), json!(NUMBERS.get(row.number)), json!(at)]
    });
    service.fill(&BusinessObject::new(7, "order", &kinds), cells.collect());
    let change = json!({"day_comparison": day_comparison}).to_string();
    assert_eq!(service.control("PATCH", "/__sandbox/switches", change.as_bytes()).expect("a response").0, 200);
    service
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    let Some(tree) = tree(&input.tree, 0) else { return };
    let expected: Vec<usize> =
        rows().into_iter().enumerate().filter_map(|(id, row)| is_true(&input.tree, row).then_some(id)).collect();
    let mut calendar = Calendar::default();
    if input.is_inclusive {
        calendar.comparison = DayComparison::Inclusive;
    }
    let arguments = ItemsArguments {
        item_type_name: InputValue::text("order"),
        item_type_id: InputValue::Integer(7),
        attrs: InputValue::List(vec![InputValue::text("id")]),
        where_clause: InputValue::Expression(Box::new(tree)),
        ..ItemsArguments::default()
    };
    let values_per_request = 1 + usize::from(input.values_per_request);
    SERVICES.with_borrow(|services| {
        let found = |search: &Search| found(&services[usize::from(input.is_inclusive)], search);
        if let Some(search) = checked(items::check(arguments.clone(), &calendar)) {
            assert_eq!(found(&search), expected);
        }
        if let Some(plan) = checked(items::plan(arguments, values_per_request, &calendar)) {
            if plan.requests() < 50 {
                let requests = (0..plan.requests()).map(|index| found(&plan.search(index)));
                assert_eq!(sorted(requests), expected);
                let search = plan.search(0);
                if let SearchParts::Exact(parts) = search.parts() {
                    assert_eq!(sorted(parts.iter().map(|part| found(&part.search))), found(&search));
                }
            }
        }
    });
});

/// The search, if it was not refused for its size or its ranges of days.
fn checked<T>(checked: Result<T>) -> Option<T> {
    match checked {
        Ok(checked) => Some(checked),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Validation);
            let known = ["range of days", "an empty list", "groups of conditions", "the range has no day", "more than"];
            let is_known = |message: &str| known.iter().any(|known| message.contains(known));
            assert!(error.problems().iter().all(|problem| is_known(&problem.message)), "{error:?}");
            None
        }
    }
}

fn found(service: &Service, search: &Search) -> Vec<usize> {
    let body = serde_json::to_vec(&search.body).expect("JSON");
    let (status, text) = service.post(SEARCH, &body).expect("a response");
    let envelope: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(status, 200, "{envelope} {}", String::from_utf8_lossy(&body));
    let records = envelope["data"]["data"].as_array().expect("records").iter();
    records.map(|record| record["id"].as_u64().expect("an id") as usize).collect()
}

fn sorted(found: impl Iterator<Item = Vec<usize>>) -> Vec<usize> {
    let mut all: Vec<usize> = found.flatten().collect();
    all.sort_unstable();
    all
}

/// The expression, unless it is nested more than a caller would.
fn tree(node: &Node, depth: usize) -> Option<Tree<ColumnCondition>> {
    let parts = |nodes: &[Node]| nodes.iter().map(|node| tree(node, depth + 1)).collect::<Option<Vec<_>>>();
    match node {
        _ if depth > 20 => None,
        Node::Leaf(leaf) => Some(Tree::Leaf(condition(leaf))),
        Node::All(nodes) => parts(nodes).map(Tree::All),
        Node::Any(nodes) => parts(nodes).map(Tree::Any),
    }
}

fn condition(leaf: &Leaf) -> ColumnCondition {
    let list = |values: Vec<InputValue>, is_one: bool| match (is_one, values.first()) {
        (true, Some(first)) => Comparison::new(Method::Equals, first.clone()),
        _ => Comparison::new(Method::Matches, InputValue::List(values)),
    };
    let day = |day: &u8| InputValue::text(day_text(*day));
    let (column, comparison) = match leaf {
        Leaf::Text(texts, is_one) => {
            ("text", list(texts.iter().map(|index| InputValue::text(text(*index))).collect(), *is_one))
        }
        Leaf::Number(numbers, is_one) => {
            ("number", list(numbers.iter().map(|index| number_input(*index)).collect(), *is_one))
        }
        Leaf::Time(when, value) => {
            let method = match when {
                When::After => Method::After,
                When::Before => Method::Before,
                When::Since => Method::Since,
                When::Until => Method::Until,
                When::On => Method::On,
            };
            ("at", Comparison::new(method, day(value)))
        }
        Leaf::Days(start, stop) => {
            let days = Days::Range { start: day(start), stop: day(stop) };
            ("at", Comparison::new(Method::On, InputValue::Days(Box::new(days))))
        }
    };
    ColumnCondition { column: InputValue::text(column), comparison }
}

fn text(index: u8) -> &'static str {
    TEXTS[usize::from(index) % TEXTS.len()]
}

/// A number, as an integer where it is one and the index is even.
fn number_input(index: u8) -> InputValue {
    let number = number(index);
    if number.fract() == 0.0 && index < 128 { InputValue::Integer(number as i64) } else { InputValue::Number(number) }
}

fn number(index: u8) -> f64 {
    NUMBERS[usize::from(index) % NUMBERS.len()]
}

fn day_text(day: u8) -> String {
    format!("2024-01-{:02}", 13 + u32::from(day) % DAYS)
}

/// Whether the expression is true of a row. Null never matches.
fn is_true(node: &Node, row: Row) -> bool {
    match node {
        Node::Leaf(leaf) => is_true_leaf(leaf, row),
        Node::All(nodes) => nodes.iter().all(|node| is_true(node, row)),
        Node::Any(nodes) => nodes.iter().any(|node| is_true(node, row)),
    }
}

fn is_true_leaf(leaf: &Leaf, row: Row) -> bool {
    let given =
        |values: &[u8], is_one: bool| values.iter().take(if is_one { 1 } else { usize::MAX }).copied().collect();
    let day = HOURS.get(row.hour).map(|hour| hour / 24);
    match leaf {
        Leaf::Text(texts, is_one) => {
            let texts: Vec<u8> = given(texts, *is_one);
            TEXTS.get(row.text).is_some_and(|own| texts.iter().any(|index| text(*index) == *own))
        }
        Leaf::Number(numbers, is_one) => {
            let numbers: Vec<u8> = given(numbers, *is_one);
            NUMBERS.get(row.number).is_some_and(|own| numbers.iter().any(|index| number(*index) == *own))
        }
        Leaf::Time(when, value) => day.is_some_and(|day| {
            let value = u32::from(*value) % DAYS;
            match when {
                When::After => day > value,
                When::Before => day < value,
                When::Since => day >= value,
                When::Until => day <= value,
                When::On => day == value,
            }
        }),
        Leaf::Days(start, stop) => {
            day.is_some_and(|day| u32::from(*start) % DAYS <= day && day < u32::from(*stop) % DAYS)
        }
    }
}
