//! Rows of any JSON, as `serde_json` writes and reads them. The seed is another at each run.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::bodies::{cuts, split};
use super::{decode_with, expected_rows, plan};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn equals_serde_json_for_any_rows_order_spacing_and_split(
        rows in prop::collection::vec(prop::collection::hash_map("[a-d]|\\PC{1,3}", any_json(), 0..5), 0..6),
        code_first in any::<bool>(),
        pretty in any::<bool>(),
        cuts in cuts(),
    ) {
        let columns = ["a", "b", "c"];
        let data = json!({"data": rows, "status": true});
        let whole = if code_first { json!({"code": 200, "data": data}) } else { json!({"data": data, "code": 200}) };
        let body = if pretty { serde_json::to_vec_pretty(&whole) } else { serde_json::to_vec(&whole) }.expect("JSON");
        let (envelope, decoded) = decode_with(plan(&columns), &split(&body, &cuts)).expect("a good response");
        prop_assert_eq!(decoded, expected_rows(&body, &columns));
        prop_assert_eq!(envelope.code(), Ok(200));
    }
}
