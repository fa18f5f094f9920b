//! The loop over expected keys: which cells come from it, and that it writes what the rest of the fast path does.

use super::equality::{COLUMNS, Log, assert_equal};
use super::{Decoder, decode, decode_into, plan, response};

/// Decodes a good response.
fn log_of(pieces: &[&[u8]]) -> Log {
    let mut log = Log::default();
    decode_into(Decoder::new(plan(&COLUMNS)), &mut log, pieces.iter().copied()).expect("a good response");
    log
}

/// How many cells of these records came from the loop, which has space behind them to look ahead.
fn short(records: &str) -> usize {
    let body = response(&format!("{records}{}", ",{}".repeat(61)));
    assert_equal(&plan(&COLUMNS), None, &[body.as_bytes()]);
    log_of(&[body.as_bytes()]).short
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
    assert_equal(&plan(&COLUMNS), None, &[&body]);
    let whole = log_of(&[&body]);
    assert_eq!(whole.rows.len(), 40);
    for place in 0..=body.len() {
        assert!(log_of(&[&body[..place], &body[place..]]).rows == whole.rows, "split at {place}");
    }
    for size in 1..100 {
        assert!(log_of(&body.chunks(size).collect::<Vec<_>>()).rows == whole.rows, "in pieces of {size}");
    }
}

#[test]
fn the_loop_reads_whatever_is_expected() {
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
        assert_eq!(short(&[record; 50].join(",")), records * cells, "{record}");
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
    assert_eq!(short(&records.join(",")), expected);
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
    // The third record is where the order is learned.
    assert_eq!(short(&records.join(",")), requested - 3);
}

#[test]
fn an_order_is_learned_behind_a_record_that_does_not_show_it() {
    let records = [r#"{"é":1,"a":2,"b":"x"}"#; 100].join(",");
    // All but those of the record where they are learned.
    assert_eq!(short(&format!(r#"{{}},{{"b":1}},{records}"#)), 1 + 99 * 3);
}

#[test]
fn the_loop_goes_on_behind_any_value() {
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
        // `b` of each record, and `a` and `b` of the first.
        assert_eq!(short(&format!(r#"{{"z":1,"a":1,"b":"x"}},{records}"#)), 52, "{value}");
    }
}

#[test]
fn a_member_without_its_comma_is_refused_behind_every_kind_of_member() {
    for (member, between) in [(r#""a":1"#, "}"), (r#""a":[1]"#, "}"), (r#""new":1"#, "}"), (r#""new":1"#, " ")] {
        let records = format!(r#"{{"a":1,"b":"x"}},{{{member}{between}"b":"x"}}{}"#, ",{}".repeat(61));
        assert_equal(&plan(&COLUMNS), None, &[response(&records).as_bytes()]);
        assert!(decode(&COLUMNS, &response(&records)).is_err(), "{records}");
    }
}
