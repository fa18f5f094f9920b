//! The loop over expected keys: which cells come from it, and that it writes what the rest of the fast path does.

use proptest::prelude::*;

use super::bodies::{body, broken, cuts, split, value};
use super::equality::{COLUMNS, Log, config};
use super::{Decoder, comparable, decode_into, plan, response};

/// The records of a body, and how many cells came from the loop.
fn log_of(pieces: &[&[u8]], is_slow: bool) -> (Result<String, (crate::error::Kind, String)>, Log) {
    let mut log = Log { is_slow, ..Log::default() };
    let result = decode_into(Decoder::new(plan(&COLUMNS)), &mut log, pieces.iter().copied());
    (comparable(result), log)
}

fn assert_all_equal(pieces: &[&[u8]]) {
    let (result, log) = log_of(pieces, false);
    let (slow_result, slow_log) = log_of(pieces, true);
    let mut reference_log = Log::default();
    let reference = decode_into(Decoder::reference(plan(&COLUMNS)), &mut reference_log, pieces.iter().copied());
    assert_eq!((&result, &log.rows), (&slow_result, &slow_log.rows), "with and without the loop");
    assert_eq!((result, log.rows), (comparable(reference), reference_log.rows), "fast path and reference");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_loop_the_fast_path_and_the_reference_agree(
        body in body(prop_oneof![29 => value(), 1 => broken()].boxed()),
        cuts in cuts(),
    ) {
        assert_all_equal(&split(&body, &cuts));
    }
}

/// Members that the loop reads, and some that it does not, in records with space for the loop to look ahead.
fn wild_records() -> String {
    let mut records = Vec::new();
    for row in 0..40 {
        let text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ".get(..row % 36).expect("ASCII");
        let number = ["0", "-7", "9999999", "-9999999", "10000000", "1.5", "2e3", "-0", "true"][row % 9];
        let other = ["\"ü\"", "\"\\n\"", "null", "[1,{\"c\":\"}\"}]", "\"\""][row % 5];
        let key = "a key of more than thirty-two bytes";
        records.push(match row % 7 {
            0 => format!(r#"{{"b":{other},"a":{number},"é":null,"{key}":"{text}"}}"#),
            1 => format!(r#"{{"a":{number},"z":"{text}","y":{number},"b":{other}}}"#),
            2 => format!(r#"{{"a":{number},"b":"{text}","a":"{text}","é":{number}}}"#),
            3 => format!(r#"{{ "a" : {number} , "b" : "{text}" , "é" : {other} }}"#),
            4 => format!(r#"{{"é":{other},"z":{other},"b":"\u00e9{text}","y":"{text}{text}","a":{number}}}"#),
            _ => format!(r#"{{"a":{number},"b":"{text}","é":{other},"{key}":{number}}}"#),
        });
    }
    records.join(",")
}

#[test]
fn records_are_the_same_wherever_they_are_split() {
    let body = response(&wild_records()).into_bytes();
    assert_all_equal(&[&body]);
    let (_, whole) = log_of(&[&body], false);
    assert_eq!(whole.rows.len(), 40);
    for place in 0..=body.len() {
        let (result, log) = log_of(&[&body[..place], &body[place..]], false);
        assert!(result.is_ok(), "split at {place}");
        assert!(log.rows == whole.rows, "split at {place}");
    }
    for size in 1..100 {
        let (_, log) = log_of(&body.chunks(size).collect::<Vec<_>>(), false);
        assert!(log.rows == whole.rows, "in pieces of {size}");
    }
}

#[test]
fn the_loop_reads_whatever_is_expected() {
    let after = "{},".repeat(60) + "{}";
    let [longest, too_long] = [31, 32].map(|length| format!(r#"{{"b":"{}","a":-1234567}}"#, "x".repeat(length)));
    // One record is where the loop learns the keys, unless they are as it guesses.
    for (record, cells, records) in [
        (longest.as_str(), 2, 49),
        (too_long.as_str(), 1, 49),
        (r#"{"a":1,"b":"x","é":null}"#, 2, 50),
        (r#"{"a":1,"é":7}"#, 2, 50),
        (r#"{"é":7}"#, 1, 50),
        (r#"{ "a": 1, "b": "x", "é": null }"#, 2, 49),
        ("{\n  \"a\": 1,\n  \"b\": \"x\"\n}", 2, 49),
        (r#"{"a":1,"z":"not requested","y":7,"x":null,"b":"x"}"#, 2, 50),
        (r#"{"z":"not requested","a":1,"b":"x"}"#, 2, 50),
        (r#"{"b":"ü","a":1}"#, 1, 49),
        (r#"{"b":"\n","a":1}"#, 1, 49),
        (r#"{"b":1.5,"a":1}"#, 1, 49),
        (r#"{"b":[],"a":1}"#, 1, 49),
        (r#"{"a":1,"b":2,"a":3}"#, 2, 50),
    ] {
        let body = response(&format!("{},{after}", [record; 50].join(",")));
        let (result, log) = log_of(&[body.as_bytes()], false);
        assert!(result.is_ok(), "{record}");
        assert_eq!(log.short, records * cells, "{record}");
    }
}

#[test]
fn keys_left_out_do_not_stop_the_loop() {
    let records: Vec<_> = (0..64)
        .map(|row| {
            let members = [r#""a":1"#, r#""b":"x""#, r#""é":2"#].into_iter().enumerate();
            let members: Vec<_> =
                members.filter(|(index, _)| row >> index & 1 == 0).map(|(_, member)| member).collect();
            format!("{{{}}}", members.join(","))
        })
        .collect();
    let expected: usize = records.iter().map(|record| record.matches(':').count()).sum();
    let body = response(&format!("{},{}", records.join(","), "{},".repeat(60) + "{}"));
    assert_eq!(log_of(&[body.as_bytes()], false).1.short, expected);
    assert_all_equal(&[body.as_bytes()]);
}

#[test]
fn keys_in_another_order_do_not_stop_the_loop() {
    let orders = [
        r#"{"a":1,"b":"x","é":2,"z":0}"#,
        r#"{"é":2,"z":0,"a":1,"b":"x"}"#,
        r#"{"z":0,"é":2,"b":"x","a":1}"#,
        r#"{"b":"x","é":2}"#,
    ];
    let records: Vec<_> = orders.iter().cycle().take(80).copied().collect();
    let extras: usize = records.iter().map(|record| record.matches('z').count()).sum();
    let requested = records.iter().map(|record| record.matches(':').count()).sum::<usize>() - extras;
    let body = response(&format!("{},{}", records.join(","), "{},".repeat(60) + "{}"));
    let (_, log) = log_of(&[body.as_bytes()], false);
    // The third record is where the order is learned.
    assert_eq!(log.short, requested - 3);
    assert_all_equal(&[body.as_bytes()]);
}

#[test]
fn an_order_is_learned_behind_a_record_that_does_not_show_it() {
    let records = [r#"{"é":1,"a":2,"b":"x"}"#; 100].join(",");
    let body = response(&format!(r#"{{}},{{"b":1}},{records},{}"#, "{},".repeat(60) + "{}"));
    // All but those of the record where they are learned.
    assert_eq!(log_of(&[body.as_bytes()], false).1.short, 1 + 99 * 3);
    assert_all_equal(&[body.as_bytes()]);
}

#[test]
fn the_loop_goes_on_behind_any_value() {
    let after = "{},".repeat(60) + "{}";
    for value in [
        "\"\\n\"",
        "\"é\"",
        "1.5",
        "[1,{\"a\":2}]",
        " true",
        "12345678901",
        "\"a string of more than thirty-two bytes\"",
    ] {
        let record = format!(r#"{{"z":{value},"a":{value},"b":"x"}}"#);
        let records = vec![record.as_str(); 50].join(",");
        let body = response(&format!(r#"{{"z":1,"a":1,"b":"x"}},{records},{after}"#));
        // `b` of each record, and `a` and `b` of the first.
        assert_eq!(log_of(&[body.as_bytes()], false).1.short, 52, "{value}");
        assert_all_equal(&[body.as_bytes()]);
    }
}

#[test]
fn a_member_without_its_comma_is_refused_behind_every_kind_of_member() {
    let after = "{},".repeat(60) + "{}";
    for (member, between) in [(r#""a":1"#, "}"), (r#""a":[1]"#, "}"), (r#""new":1"#, "}"), (r#""new":1"#, " ")] {
        let records = format!(r#"{{"a":1,"b":"x"}},{{{member}{between}"b":"x"}}"#);
        let body = response(&format!("{records},{after}"));
        assert!(log_of(&[body.as_bytes()], false).0.is_err(), "{records}");
        assert_all_equal(&[body.as_bytes()]);
    }
}
