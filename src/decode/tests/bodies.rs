//! Bodies for the property tests: records in any style, valid or not, and where to split them.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::equality::COLUMNS;

pub(super) fn split<'a>(body: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 2 => Just(" ".to_owned()), 1 => "[ \n\r\t]{1,3}"]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "-?(0|[1-9][0-9]{0,9})",
        1 => "-?[1-9][0-9]{10,40}",
        2 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?",
        1 => select(vec!["-0", "0e999999999999", "1.7976931348623157e308", "5e-324", "1e-400"])
            .prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[a-z ]{0,20}",
        1 => "[^\"\\\\\\x00-\\x1F]{0,6}",
        2 => select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83D\\uDe00", "\\u0000"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

/// Not a value, or one that no column takes.
pub(super) fn broken() -> impl Strategy<Value = String> {
    let broken = concat!(
        r#"1e400 -1e309 "\ud800" "\ud800\u0041" "\udead" "\ud83d\ud83d" "\x" "\u12g4" "\u+123" 01 - 1. .5 1e +1 "#,
        r#"nul truE NaN [1,] [1 {"a"} {"a":} {,} ["\ud800"] [1e400] ] }"#,
    );
    let broken: Vec<&str> = broken.split(' ').chain(["\"\t\"", ""]).collect();
    prop_oneof![
        9 => select(broken).prop_map(str::to_owned),
        1 => (1_usize..140).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
        1 => (190_usize..400).prop_map(|length| "9".repeat(length)),
        1 => (190_usize..400).prop_map(|length| format!("[{}]", "9".repeat(length))),
        1 => (1_000_usize..1_050, 0_usize..2).prop_map(|(length, fractions)| {
            let number = format!("1{}{}", ".".repeat(fractions), "9".repeat(length));
            format!("[[{number}],{number}]")
        }),
        1 => (1_000_usize..1_050).prop_map(|length| "9".repeat(length)),
    ]
}

pub(super) fn value() -> BoxedStrategy<String> {
    let word = select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![2 => word, 3 => number(), 4 => text()];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        let item =
            (space(), inner, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}")).boxed();
        let member = (space(), text(), space(), item.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        prop_oneof![
            prop::collection::vec(item, 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..3).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    nested.boxed()
}

fn key() -> impl Strategy<Value = String> {
    let known = vec!["a", "b", "é", "a key of more than thirty-two bytes", "\\u0061", "\\u00e9", "x"];
    prop_oneof![9 => select(known).prop_map(|key| format!("\"{key}\"")), 1 => text()]
}

/// A record in the usual key order and style, or in any.
fn record(value: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let usual = prop::collection::vec(prop::option::weighted(0.9, value.clone()), COLUMNS.len()).prop_map(|values| {
        let members = COLUMNS.iter().zip(values).filter_map(|(key, value)| Some(format!("\"{key}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    let member = (space(), key(), space(), space(), value, space())
        .prop_map(|(one, key, two, three, value, four)| format!("{one}{key}{two}:{three}{value}{four}"));
    let unusual = prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")));
    prop_oneof![4 => usual, 1 => unusual]
}

pub(super) fn body(value: BoxedStrategy<String>) -> impl Strategy<Value = Vec<u8>> {
    let item = (space(), record(value), space()).prop_map(|(before, record, after)| format!("{before}{record}{after}"));
    prop::collection::vec(item, 0..12).prop_map(|records| {
        format!(r#"{{"code":200,"data":{{"status":true,"data":[{}]}}}}"#, records.join(",")).into_bytes()
    })
}

pub(super) fn cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..8)
}
