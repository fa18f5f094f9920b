//! What counts and what does not: undone records, repeated keys, batches that add up.

use super::{NAME_BYTES, NAMES, OTHERS, RecordStats, WithStats};
use crate::cells::Cells;
use crate::decode::{BatchSink as _, Cell, Sink as _};

/// Writes a text as a short one or as any other.
fn write(sink: &mut WithStats<Cells>, column: usize, text: &str, is_short: bool) {
    let mut block = [b'x'; 32];
    block[..text.len()].copy_from_slice(text.as_bytes());
    if !is_short || !sink.short_string(column, &block, text.len()) {
        sink.cell(column, Cell::String(text)).expect("fits");
    }
}

fn stats(sink: &mut WithStats<Cells>) -> RecordStats {
    sink.take().expect("a batch").expect("records").stats
}

#[test]
fn only_complete_records_count() {
    for is_short in [false, true] {
        let mut sink = WithStats::new(Cells::new(2), Some(1));
        let mut record = |keys: &[&str], time: &str, complete: bool| {
            for key in keys {
                sink.extra(key, "1");
            }
            sink.cell(0, Cell::Null).expect("fits");
            write(&mut sink, 1, time, is_short);
            if complete { sink.end_record() } else { sink.undo_record() }
        };
        record(&["a", "b", "a"], "2024-01-15 10:00:00", true);
        record(&["c"], "2023-01-01 00:00:00", false);
        record(&["b"], "2024-01-14 23:59:59", true);
        record(&[], "some other text", true);
        let times = Some(("2024-01-14 23:59:59".to_owned(), "2024-01-15 10:00:00".to_owned()));
        let extras = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        assert_eq!(stats(&mut sink), RecordStats { rows: 3, extras, times, mixed: Vec::new() });
        assert!(sink.take().expect("no error").is_none());
    }
}

#[test]
fn fractions_of_a_second_are_left_out_and_zero_dates_are_no_times() {
    let texts =
        ["2024-01-20 08:00:00.5", "0000-00-00 00:00:00", "2024-01-15 10:00:00", "2024-01-15", "2024-01-01 08:00:00Z"];
    for is_short in [false, true] {
        let mut sink = WithStats::new(Cells::new(1), Some(0));
        for text in texts {
            write(&mut sink, 0, text, is_short);
            sink.end_record();
        }
        let times = Some(("2024-01-15 10:00:00".to_owned(), "2024-01-20 08:00:00".to_owned()));
        assert_eq!(stats(&mut sink).times, times);
    }
}

#[test]
fn counts_of_batches_add_up() {
    let of_batch = |name: &str, times: Option<(&str, &str)>| RecordStats {
        rows: 3,
        extras: vec![(name.to_owned(), 2)],
        times: times.map(|(least, greatest)| (least.to_owned(), greatest.to_owned())),
        mixed: vec!["x".to_owned()],
    };
    let mut all = of_batch("a", None);
    all.add(of_batch("b", Some(("2", "3"))));
    all.add(of_batch("a", Some(("1", "2"))));
    all.add(of_batch("a", None));
    let times = Some(("1".to_owned(), "3".to_owned()));
    let (extras, mixed) = (vec![("a".to_owned(), 6), ("b".to_owned(), 2)], vec!["x".to_owned()]);
    assert_eq!(all, RecordStats { rows: 12, extras, times, mixed });
}

#[test]
fn more_names_than_the_limit_are_counted_together() {
    let mut sink = WithStats::new(Cells::new(0), None);
    for number in 0..NAMES + 5 {
        sink.extra(&format!("key-{number}"), "1");
        sink.end_record();
    }
    let extras = stats(&mut sink).extras;
    assert_eq!(extras.len(), NAMES + 1);
    assert_eq!(extras.last(), Some(&(OTHERS.to_owned(), 5)));
}

#[test]
fn names_stay_few_and_short_over_many_batches() {
    let mut all = RecordStats::default();
    for batch in 0..3 {
        let mut sink = WithStats::new(Cells::new(0), None);
        for number in 0..NAMES {
            sink.extra(&format!("key-{batch}-{number}"), "1");
        }
        sink.extra(&"x".repeat(NAME_BYTES + 1), "1");
        sink.end_record();
        all.add(stats(&mut sink));
    }
    assert_eq!(all.extras.len(), NAMES + 1);
    assert!(all.extras.iter().all(|(name, _)| name.len() <= NAME_BYTES));
    assert_eq!(all.extras.last(), Some(&(OTHERS.to_owned(), 3)));
}
