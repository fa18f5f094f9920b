//! Which requests a scan takes: together they ask for what was asked for, and for each row once.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error::Result;
use crate::filter::codes::{self, CodesArguments};
use crate::filter::items::{self, ItemsArguments};
use crate::filter::sample::{
    after, all, any, col, compared_days, days, equals, expression, input, matches, on, problem, problems,
};
use crate::filter::{ColumnCondition, Tree};
use crate::time::Zone;

const DAY: i64 = 86_400_000;
const NEW_YEAR: i64 = 1_704_067_200_000;

fn of_codes(allocated_time: InputValue, audience: Value, values_per_request: &InputValue) -> Result<Plan> {
    let arguments = CodesArguments { allocated_time, allocated_audience: input(audience), ..CodesArguments::default() };
    codes::plan(arguments, values_per_request, &Zone::default())
}

fn of_items(tree: Tree<ColumnCondition>, values_per_request: &InputValue) -> Result<Plan> {
    let arguments = ItemsArguments {
        item_type_name: InputValue::text("customer"),
        attrs: input(json!(["name"])),
        where_clause: expression(tree),
        ..ItemsArguments::default()
    };
    items::plan(arguments, values_per_request, &Zone::default())
}

/// The values of each request's conditions.
fn values(plan: &Plan) -> Vec<Vec<Value>> {
    let of = |index| {
        let groups = plan.search(index).body.filters.or;
        groups.iter().flat_map(|group| &group.and).map(|condition| condition.value().clone()).collect()
    };
    (0..plan.requests()).map(of).collect()
}

#[test]
fn a_range_is_a_request_a_day_and_a_long_list_several() {
    let plan = of_codes(days("2024-01-01", "2024-01-03"), json!(["a", "b", "a", "c"]), &InputValue::Integer(2));
    let (first, second) = (json!(NEW_YEAR), json!(NEW_YEAR + DAY));
    assert_eq!(
        values(&plan.expect("a good plan")),
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
    let plan = of_codes(days("2024-01-01", "2024-03-01"), json!(["a"]), &InputValue::Null).expect("a good plan");
    assert_eq!(plan.requests(), 60);
    let arguments = CodesArguments {
        allocated_time: on("2024-02-29"),
        allocated_audience: input(json!(["a"])),
        ..CodesArguments::default()
    };
    assert_eq!(plan.search(59), codes::check(arguments, &Zone::default()).expect("a good search"));
}

#[test]
fn what_fits_into_one_request_stays_one() {
    let plan = of_codes(after("2024-01-01"), json!(["a", "b"]), &InputValue::Integer(2)).expect("a good plan");
    assert_eq!((plan.requests(), plan.axes.len()), (1, 0));
    let ids: Vec<String> = (0..1_001).map(|id| id.to_string()).collect();
    assert_eq!(of_codes(after("2024-01-01"), json!(ids[..1_000]), &InputValue::Null).expect("a plan").requests(), 1);
    assert_eq!(of_codes(after("2024-01-01"), json!(ids), &InputValue::Null).expect("a plan").requests(), 2);
}

#[test]
fn groups_that_may_overlap_stay_one_request() {
    let tree = any([matches("a", json!(["1", "2", "3"])), matches("b", json!(["1", "2", "3"]))]);
    assert_eq!(of_items(tree, &InputValue::Integer(1)).expect("a good plan").requests(), 1);
    let tree = any([equals("a", "1"), col("b", compared_days("2024-01-01", "2024-01-03"))]);
    let told = problem(of_items(tree, &InputValue::Null));
    assert_eq!((told.argument.as_str(), told.path.as_str()), ("where", "filters.OR[1].AND[0].value"));
    assert!(told.message.contains("one of 2 groups joined by OR"), "{told}");
}

#[test]
fn items_may_be_of_one_day_each_as_well() {
    let tree = all([matches("a", json!(["1", "2"])), col("created", compared_days("2024-01-01", "2024-01-03"))]);
    let plan = of_items(tree, &InputValue::Integer(1)).expect("a good plan");
    let told: Vec<_> = values(&plan).into_iter().map(|values| (values[0][0].clone(), values[1].clone())).collect();
    let (first, second) = (json!(NEW_YEAR), json!(NEW_YEAR + DAY));
    let (one, two) = (json!("1"), json!("2"));
    assert_eq!(told, [(one.clone(), first.clone()), (two.clone(), first), (one, second.clone()), (two, second)]);
}

#[test]
fn one_number_in_two_spellings_is_one_value() {
    let asked = json!([
        1,
        1.0,
        2,
        2.5,
        9_007_199_254_740_993_i64,
        i64::MAX,
        9_223_372_036_854_775_808.0,
        1e300,
        -1.0,
        -1,
        0,
        -0.0
    ]);
    let plan = of_items(matches("a", asked), &InputValue::Integer(1));
    let told: Vec<_> = values(&plan.expect("a good plan")).into_iter().map(|values| values[0][0].clone()).collect();
    let once = json!([1, 2, 2.5, 9_007_199_254_740_993_i64, i64::MAX, 9_223_372_036_854_775_808.0, 1e300, -1.0, 0]);
    assert_eq!(json!(told), once);
}

#[test]
fn what_cannot_be_planned_is_told() {
    for (range, advice) in [
        (days("2024-01-02", "2024-01-02"), "holds no day"),
        (days("2024-01-02", "2024-01-01"), "holds no day"),
        (days("1500-01-01", "2024-01-01"), "holds more than 100000 days"),
        (days("soon", "2024-01-01"), "\"soon\" is not ISO 8601"),
    ] {
        let told = problem(of_codes(range, Value::Null, &InputValue::Null));
        assert_eq!(told.argument, "allocated_time");
        assert!(told.message.contains(advice), "{told}");
    }
    let ids: Vec<String> = (0..300).map(|id| id.to_string()).collect();
    let told = problem(of_codes(days("2023-01-01", "2024-01-01"), json!(ids), &InputValue::Integer(1)));
    assert!(told.message.contains("365 x 300 requests"), "{told}");
    for (values_per_request, advice) in
        [(InputValue::Integer(0), "less than 1"), (InputValue::text("many"), "\"many\" is a text")]
    {
        let told = problems(of_codes(InputValue::Null, Value::Null, &values_per_request));
        assert_eq!(told.len(), 2, "all at once");
        assert!(
            told.iter().any(|problem| problem.argument == "values_per_request" && problem.message.contains(advice))
        );
    }
}

proptest! {
    /// The oracle: whoever asks for each pair of a day and an id, asks for it in exactly one request.
    #[test]
    fn each_pair_is_asked_for_once(
        ids in prop::collection::vec("[a-d]{1,2}", 1..40),
        statuses in prop::sample::subsequence(vec![1, 3, 4], 1..=3),
        values_per_request in 1_usize..12,
        length in 1_usize..6,
    ) {
        let stop = format!("2024-01-{:02}", length + 1);
        let arguments = CodesArguments {
            allocated_time: days("2024-01-01", &stop),
            allocated_audience: input(json!(ids)),
            code_status: input(json!(statuses)),
            ..CodesArguments::default()
        };
        let given_count = InputValue::Integer(i64::try_from(values_per_request).expect("a small number"));
        let plan = codes::plan(arguments, &given_count, &Zone::default()).expect("a good plan");
        let mut asked: HashMap<(Value, Value, Value), usize> = HashMap::new();
        for values in values(&plan) {
            let [audience, status, day] = values.as_slice() else { panic!("three conditions") };
            let lists = (audience.as_array().expect("ids"), status.as_array().expect("statuses"));
            prop_assert!(lists.0.len() <= values_per_request && lists.1.len() <= values_per_request);
            for id in lists.0 {
                for status in lists.1 {
                    *asked.entry((id.clone(), status.clone(), day.clone())).or_default() += 1;
                }
            }
        }
        let mut distinct = ids.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(asked.len(), distinct.len() * statuses.len() * length);
        prop_assert!(asked.values().all(|times| *times == 1));
        for start in (0..length).zip((NEW_YEAR..).step_by(86_400_000)).map(|(_, start)| start) {
            for id in &distinct {
                prop_assert!(asked.contains_key(&(json!(id), json!(statuses[0]), json!(start))));
            }
        }
    }
}
