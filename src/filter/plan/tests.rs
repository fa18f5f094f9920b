//! The requests of a scan: together they ask for each row once.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error::Result;
use crate::filter::codes::{self, CodesArguments};
use crate::filter::items;
use crate::filter::tests::{
    after, all, any, col, compared_days, customers, days, equals, expression, input, matches, on, problem,
};
use crate::filter::{ColumnCondition, Tree};
use crate::time::Calendar;

const DAY: i64 = 86_400_000;
const NEW_YEAR: i64 = 1_704_067_200_000;

fn of_codes(allocated_time: InputValue, audience: Value, values_per_request: usize) -> Result<Plan> {
    let arguments = CodesArguments { allocated_time, allocated_audience: input(audience), ..CodesArguments::default() };
    codes::plan(arguments, values_per_request, &Calendar::default())
}

fn of_items(tree: Tree<ColumnCondition>, values_per_request: usize) -> Result<Plan> {
    items::plan(customers(expression(tree)), values_per_request, &Calendar::default())
}

/// The values of each request's conditions.
fn values(plan: &Plan) -> Vec<Vec<Value>> {
    let of = |index| {
        let groups = plan.search(index).body.filters.or.clone();
        groups.iter().flat_map(|group| &group.and).map(|condition| condition.value.clone()).collect()
    };
    (0..plan.requests()).map(of).collect()
}

#[test]
fn a_range_is_a_request_a_day_and_a_long_list_several() {
    let plan = of_codes(days("2024-01-01", "2024-01-03"), json!(["a", "b", "a", "c"]), 2);
    let (first, second) = (json!(NEW_YEAR), json!(NEW_YEAR + DAY));
    assert_eq!(
        values(&plan.expect("a valid plan")),
        [
            [json!(["a", "b"]), first.clone()],
            [json!(["c"]), first],
            [json!(["a", "b"]), second.clone()],
            [json!(["c"]), second],
        ]
    );
}

#[test]
fn a_request_of_a_plan_is_the_search_of_its_day() {
    let plan = of_codes(days("2024-01-01", "2024-03-01"), json!(["a"]), VALUES_PER_REQUEST).expect("a valid plan");
    assert_eq!(plan.requests(), 60);
    let arguments = CodesArguments {
        allocated_time: on("2024-02-29"),
        allocated_audience: input(json!(["a"])),
        ..CodesArguments::default()
    };
    assert_eq!(*plan.search(59), codes::check(arguments, &Calendar::default()).expect("a valid search"));
}

#[test]
fn the_conditions_of_all_requests_are_known_together() {
    let audience = json!(["a", "b", "a", "c"]);
    let plan = of_codes(days("2024-01-01", "2024-01-03"), audience, 2).expect("a valid plan");
    let filters = plan.filters();
    let found: Vec<_> = filters.or.iter().flat_map(|group| &group.and).map(|condition| &condition.value).collect();
    assert_eq!(found, [&json!(["a", "b", "c"]), &json!([NEW_YEAR, NEW_YEAR + DAY])]);
}

#[test]
fn values_that_fit_into_one_request_stay_one() {
    let plan = of_codes(after("2024-01-01"), json!(["a", "b"]), 2).expect("a valid plan");
    assert_eq!((plan.requests(), plan.axes.len()), (1, 0));
    let ids: Vec<String> = (0..991).map(|id| id.to_string()).collect();
    assert_eq!(of_codes(after("2024-01-01"), json!(ids[..990]), VALUES_PER_REQUEST).expect("a plan").requests(), 1);
    assert_eq!(of_codes(after("2024-01-01"), json!(ids), VALUES_PER_REQUEST).expect("a plan").requests(), 2);
}

#[test]
fn groups_that_may_overlap_stay_one_request() {
    let tree = any([matches("a", json!(["1", "2", "3"])), matches("b", json!(["1", "2", "3"]))]);
    assert_eq!(of_items(tree, 1).expect("a valid plan").requests(), 1);
    let tree = any([equals("a", "1"), col("b", compared_days("2024-01-01", "2024-01-03"))]);
    let problem = problem(of_items(tree, VALUES_PER_REQUEST));
    assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("where", "filters.OR[1].AND[0].value"));
    assert!(problem.message.contains(" 2 "), "{problem}");
}

#[test]
fn items_can_be_requested_by_day_too() {
    let tree = all([matches("a", json!(["1", "2"])), col("created", compared_days("2024-01-01", "2024-01-03"))]);
    let plan = of_items(tree, 1).expect("a valid plan");
    let found: Vec<_> = values(&plan).into_iter().map(|values| (values[0][0].clone(), values[1].clone())).collect();
    let (first, second) = (json!(NEW_YEAR), json!(NEW_YEAR + DAY));
    let (one, two) = (json!("1"), json!("2"));
    assert_eq!(found, [(one.clone(), first.clone()), (two.clone(), first), (one, second.clone()), (two, second)]);
}

#[test]
fn equal_numbers_are_one_value() {
    let given =
        "[1, 1.0, 2, 2.5, 9007199254740993, 9223372036854775807, 9223372036854775808.0, 1e300, -1.0, -1, 0, -0.0]";
    let once = "[1, 2, 2.5, 9007199254740993, 9223372036854775807, 9223372036854775808.0, 1e300, -1.0, 0]";
    let [given, once] = [given, once].map(|values| serde_json::from_str::<Value>(values).expect("JSON"));
    let plan = of_items(matches("a", given), 1);
    let found: Vec<_> = values(&plan.expect("a valid plan")).into_iter().map(|values| values[0][0].clone()).collect();
    assert_eq!(json!(found), once);
}

#[test]
fn a_plan_that_is_impossible_is_refused() {
    for (range, datum) in [
        (days("2024-01-02", "2024-01-02"), " no "),
        (days("2024-01-02", "2024-01-01"), " no "),
        (days("1500-01-01", "2024-01-01"), "100000"),
        (days("soon", "2024-01-01"), "\"soon\""),
    ] {
        let problem = problem(of_codes(range, Value::Null, VALUES_PER_REQUEST));
        assert_eq!(problem.argument, "allocated_time");
        assert!(problem.message.contains(datum), "{problem}");
    }
    let ids: Vec<String> = (0..300).map(|id| id.to_string()).collect();
    let problem = problem(of_codes(days("2023-01-01", "2024-01-01"), json!(&ids), 1));
    assert!(problem.message.contains("365 x 300"), "{problem}");
    let most = of_codes(days("2023-01-01", "2024-02-05"), json!(ids[..250]), 1);
    assert_eq!(most.expect("a valid plan").requests(), MAX_REQUESTS);
}

proptest! {
    /// Each combination of an id, a status and a day is in exactly one request.
    #[test]
    fn each_combination_is_requested_once(
        ids in prop_oneof![prop::collection::vec("[a-d]{1,2}", 1), prop::collection::vec("[a-d]{1,2}", 2..40)],
        statuses in prop::sample::subsequence(vec![1, 3, 4], 1..=3),
        values_per_request in 1_usize..12,
        length in 1_i64..6,
    ) {
        let arguments = CodesArguments {
            allocated_time: days("2024-01-01", &format!("2024-01-{:02}", length + 1)),
            allocated_audience: input(json!(ids)),
            code_status: input(json!(statuses)),
            ..CodesArguments::default()
        };
        let plan = codes::plan(arguments, values_per_request, &Calendar::default()).expect("a valid plan");
        let mut requested: HashMap<[Value; 3], usize> = HashMap::new();
        for values in values(&plan) {
            let [audience, status, day] = values.as_slice() else { panic!("three conditions") };
            let lists = [audience, status].map(|list| list.as_array().expect("a list"));
            prop_assert!(lists.iter().all(|list| list.len() <= values_per_request));
            for (id, status) in lists[0].iter().flat_map(|id| lists[1].iter().map(move |status| (id, status))) {
                *requested.entry([id, status, day].map(Value::clone)).or_default() += 1;
            }
        }
        let mut expected = HashMap::new();
        for day in 0..length {
            let of_day = ids.iter().flat_map(|id| statuses.iter().map(move |status| (id, status)));
            expected.extend(of_day.map(|(id, status)| ([json!(id), json!(status), json!(NEW_YEAR + day * DAY)], 1)));
        }
        prop_assert_eq!(requested, expected);
    }
}
