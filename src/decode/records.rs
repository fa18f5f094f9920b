//! The records of one response: counted, dropped beyond a maximum, and read quickly where possible.
//!
//! The loop over the expected keys reads the members of a record as long as each has a known key, quickest in the order
//! that is expected and with short values. It stops at the first surprise, having taken only what is certainly good.
//! What it stops at is read member by member, and then it goes on. Reports no errors: a record with anything invalid or
//! unusual is undone and left to `reference`, with which this path must agree.
#![expect(
    clippy::inline_always,
    reason = "what runs for every value: a call would cost as much as the work, and lack its instructions"
)]

use std::sync::Arc;

use super::envelope::Envelope;
use super::keys::{BEFORE, ColumnNames, Expected, KeyPredictor, MAX_EXPECTED, SeenColumns};
use super::reference;
use super::simd::{Bytes32, Simd, WIDTH, stops_and_non_ascii, with_baseline, with_widest};
use super::value::{Cursor, ValueReader};
use super::{Cell, CellResult, Limits, PaddedBytes, Sink};
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Records {
    columns: ColumnNames,
    /// None if all records are left to `reference`.
    pub(super) fast_path: Option<FastPath>,
    max: u64,
    pub(super) count: u64,
    /// The columns of dropped records, whose keys are not counted.
    dropped: ColumnNames,
}

impl Records {
    /// Records after `max` are parsed and dropped.
    pub(super) fn new(names: Arc<[String]>, max: Option<u64>, limits: Limits) -> Self {
        let fast_path = FastPath::new(&names, limits);
        let dropped = ColumnNames::new(if max.is_some() { Arc::clone(&names) } else { Arc::default() });
        Self { columns: ColumnNames::new(names), fast_path, max: max.unwrap_or(u64::MAX), count: 0, dropped }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= self.max
    }

    /// Reads records from `start` on, as far as the fast path can.
    pub(super) fn read_all<S: Sink>(&mut self, bytes: &[u8], start: usize, sink: &mut S) -> Option<Run> {
        let fast_path = self.fast_path.as_mut()?;
        let run = match self.max.saturating_sub(self.count) {
            0 => fast_path.read_all(bytes, start, u64::MAX, &mut self.dropped, &mut Dropped),
            max => {
                let max = max.min(sink.records_until_full().max(1));
                fast_path.read_all(bytes, start, max, &mut self.columns, sink)
            }
        };
        self.count += run.count;
        Some(run)
    }

    /// Reads one complete record of any content, which begins at `start` in the response.
    pub(super) fn read<S: Sink>(&mut self, record: &[u8], start: u64, sink: &mut S) -> Result<()> {
        if !self.is_full() {
            reference::read(record, self.count, start, &mut self.columns, sink).inspect_err(|_| sink.undo_record())?;
        } else if record.first() == Some(&b'{') {
            reference::read(record, self.count, start, &mut self.dropped, &mut Dropped)?;
        } else {
            reference::check(record, start)?;
        }
        self.count += 1;
        Ok(())
    }

    /// An envelope with the counts alone.
    pub(super) fn into_envelope(self) -> Envelope {
        let present = self.columns.present(self.count.min(self.max));
        Envelope { records: self.count, present, ..Envelope::default() }
    }
}

/// Brackets around a value: the response, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// Reads records, and learns from each what to expect of the next.
#[derive(Debug)]
pub(super) struct FastPath {
    predictor: KeyPredictor,
    seen: SeenColumns,
    values: ValueReader,
    /// Bytes of a record.
    max_record: usize,
}

/// The records that were read.
pub(super) struct Run {
    pub(super) count: u64,
    pub(super) end: usize,
    /// Whether a record begins at the end. Otherwise a comma or the end of the array comes next.
    pub(super) is_at_record: bool,
}

impl FastPath {
    /// None if the limits allow no record at all.
    fn new(names: &[String], limits: Limits) -> Option<Self> {
        let (predictor, seen) = (KeyPredictor::new(names), SeenColumns::new(names.len()));
        let values = ValueReader { depth: limits.depth.checked_sub(OUTER_DEPTH)?, scratch: PaddedBytes::default() };
        Some(Self { predictor, seen, values, max_record: limits.record })
    }

    /// Reads up to `max` records and the commas between them, and stops at the first that it cannot read.
    fn read_all<S: Sink>(
        &mut self,
        bytes: &[u8],
        start: usize,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Run {
        let mut run = Run { count: 0, end: start, is_at_record: true };
        while run.is_at_record && run.count < max && run.end < bytes.len() {
            if self.read(bytes, &mut run, max, columns, sink).is_none() {
                sink.undo_record();
                break;
            }
        }
        run
    }

    /// Reads the record at the end of the run, and maybe others behind it.
    fn read<S: Sink>(
        &mut self,
        bytes: &[u8],
        run: &mut Run,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Option<()> {
        self.predictor.begin_record();
        self.seen.begin_record();
        let mut cursor = Cursor::new(bytes, run.end);
        (cursor.token()? == b'{').then_some(())?;
        loop {
            cursor = with_widest!(simd => self.run_hot_loop(simd, cursor, run, max, columns, sink))?;
            let before = if cursor.at == run.end { b'{' } else { b',' };
            if cursor.token()? == b'}' || !self.read_member(&mut cursor, before, columns, sink)? {
                break;
            }
        }
        cursor.skip(1);
        if cursor.at - run.end > self.max_record {
            return None;
        }
        if !self.seen.is_complete() {
            self.seen.fill_absent(columns, sink)?;
        }
        self.predictor.end_record(&self.seen);
        sink.end_record();
        *run = Run { count: run.count + 1, end: cursor.at, is_at_record: false };
        if cursor.end_member(b']') == Some(false) && cursor.token().is_some() {
            (run.end, run.is_at_record) = (cursor.at, true);
        }
        Some(())
    }

    /// Reads a key and its value, and the comma or brace before them. Returns false for a record without any, whose
    /// closing brace then follows.
    fn read_member<S: Sink>(
        &mut self,
        cursor: &mut Cursor,
        before: u8,
        columns: &ColumnNames,
        sink: &mut S,
    ) -> Option<bool> {
        (cursor.token()? == before).then_some(())?;
        let column = if let Some((column, length)) = self.predictor.recognize(cursor.rest()?) {
            cursor.skip(length);
            column
        } else {
            let start = cursor.at;
            cursor.skip(1);
            if before == b'{' && cursor.token()? == b'}' {
                return Some(false);
            }
            let ValueReader { depth, scratch } = &mut self.values;
            let name = cursor.key(scratch)?;
            let Some(column) = columns.find(name) else {
                let value = *cursor;
                *cursor = value.skip_value(*depth)?;
                sink.extra(name, cursor.text_since(value.at)?);
                return Some(true);
            };
            self.predictor.learn(cursor.since(start)?, column);
            column
        };
        // Of a key that comes twice, the last value counts: `reference` knows which that is.
        self.seen.mark(column).then_some(())?;
        self.values.read_cell(cursor, column, sink)?;
        Some(true)
    }
}

/// Bytes that are looked at for one member, so that one test of the length is enough: a key, and what may follow it.
const MEMBER: usize = 3 * WIDTH;
/// The first byte of a value and those behind it.
const VALUE: usize = WIDTH + 1;

/// Expected keys.
type Keys<'k> = std::slice::Iter<'k, Expected>;

impl FastPath {
    /// Parses members from a `,` or `{` on, continues into the next records, and adds each finished one to `run`.
    /// Returns where it stopped, which may be the beginning of a record; `None` if the sink refused a cell.
    ///
    /// Few variables live from one member to the next, so that they stay in registers.
    #[inline(always)]
    fn run_hot_loop<'a, V: Simd, S: Sink>(
        &mut self,
        simd: V,
        start: Cursor<'a>,
        run: &mut Run,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Option<Cursor<'a>> {
        let Self { predictor, seen, values, max_record } = self;
        let all = start.rest()?;
        let KeyPredictor { expected, next, misses, mispredicted, .. } = predictor;
        let expected = expected.as_slice();
        let (mut keys, mut found) = (expected[*next..].iter(), seen.narrow);
        let mut ignored = if start.at == run.end { BEFORE } else { 0 };
        let (mut rest, count_before) = (all, run.count);
        'members: while let Some(member) = rest.first_chunk::<MEMBER>() {
            let Some(head) = member.first_chunk() else { break };
            let mut candidates = keys.clone();
            let key = loop {
                let key = candidates.next();
                if let Some(key) = key
                    && key.begins(simd, head, ignored)
                {
                    break Some(key);
                }
                if head.first() == Some(&b'}') {
                    break None;
                }
                if key.is_none() {
                    let Some(from) = earlier(expected, keys.clone(), head, ignored) else { break 'members };
                    *misses += 1;
                    keys = from.iter();
                    candidates = keys.clone();
                }
            };
            let Some(key) = key else {
                let end = start.at + all.len() - rest.len();
                if *misses > 0 || !rest.starts_with(b"},{") || run.count + 1 >= max {
                    break;
                }
                if !end_record(end + 1, found, run, seen, *max_record, columns, sink)? {
                    break;
                }
                (keys, found, ignored) = (expected.iter(), 0, BEFORE);
                rest = &rest[2..];
                continue;
            };
            let key_length = usize::from(key.length % MAX_EXPECTED);
            let Some(value) = member.get(key_length..).and_then(|value| value.first_chunk::<VALUE>()) else { break };
            if key.bit & found != 0 {
                // A key that comes twice.
                break;
            }
            // The member counts as read, so that no old state has to live longer. A value that cannot be read is rare.
            (keys, ignored, found, rest) = (candidates, 0, found | key.bit, &rest[key_length..]);
            let length = if let Some(length) = take_value(simd, usize::from(key.column), value, sink) {
                length
            } else {
                let index = expected.len() - keys.len() - 1;
                let Expected { bit, length, column, .. } = expected[index];
                if let Some(length) = take_any(rest, column, values, sink) {
                    length
                } else {
                    (keys, found) = (expected[index..].iter(), found & !bit);
                    rest = &all[all.len() - rest.len() - usize::from(length)..];
                    break;
                }
            };
            let Some(after) = rest.get(length..) else {
                rest = &[];
                break;
            };
            rest = after;
        }
        seen.narrow = found;
        *next = expected.len() - keys.len();
        // Records that were finished here had no miss.
        if run.count != count_before {
            *mispredicted = 0;
        }
        let mut end = start;
        end.skip(all.len() - rest.len());
        Some(end)
    }
}

/// The expected keys from the key on with which a block begins. Searches only the keys before `later`.
#[cold]
fn earlier<'k>(expected: &'k [Expected], later: Keys, block: &Bytes32, ignored: u32) -> Option<&'k [Expected]> {
    let earlier = &expected[..expected.len() - later.count()];
    let begins = |key: &Expected| with_baseline!(simd => key.begins(simd, block, ignored));
    Some(&expected[earlier.iter().position(begins)?..])
}

/// Adds the record that ends here to the run; another one begins behind a comma. Returns false if it cannot be ended
/// here, and none if the sink refuses.
#[inline(never)]
fn end_record<S: Sink>(
    end: usize,
    found: u64,
    run: &mut Run,
    seen: &mut SeenColumns,
    limit: usize,
    columns: &mut ColumnNames,
    sink: &mut S,
) -> Option<bool> {
    let Some(all) = seen.all_narrow().filter(|_| end - run.end <= limit) else { return Some(false) };
    if found != all {
        seen.narrow = found;
        seen.fill_absent(columns, sink)?;
    }
    sink.end_record();
    (run.count, run.end) = (run.count + 1, end + 1);
    Some(true)
}

/// Passes a value of any kind on to its column and returns its length. None if the value is invalid or incomplete, or if
/// the sink refuses.
#[inline(never)]
fn take_any<S: Sink>(bytes: &[u8], column: u8, values: &mut ValueReader, sink: &mut S) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    values.read_cell(&mut cursor, usize::from(column), sink)?;
    Some(cursor.at)
}

/// Passes a short value on to its column and returns its length. None for any other value, and if the sink refuses.
#[inline(always)]
fn take_value<V: Simd, S: Sink>(simd: V, column: usize, value: &[u8; VALUE], sink: &mut S) -> Option<usize> {
    let ([written @ .., _], [first, text @ ..]) = (value, value);
    match first {
        b'"' => {
            let length = ascii_length(simd, text)?;
            sink.short_string(column, text, length).then_some(length + 2)
        }
        _ if value.starts_with(b"null") => sink.cell(column, Cell::Null).is_ok().then_some(4),
        _ => {
            let (integer, length) = short_integer(value)?;
            sink.short_integer(column, integer, written, length).then_some(length)
        }
    }
}

/// The length of the ASCII string without escapes that begins here, up to its quote.
#[inline(always)]
fn ascii_length<V: Simd>(simd: V, text: &Bytes32) -> Option<usize> {
    let length = stops_and_non_ascii(simd, text).trailing_zeros() as usize;
    (text.get(length) == Some(&b'"')).then_some(length)
}

/// The integer of fewer than eight digits at the first byte, and its length. None for any other number.
///
/// Works on all digits at once: each is a byte of a word, from the last byte upwards pairs of numbers become one.
#[inline(always)]
fn short_integer(value: &[u8; VALUE]) -> Option<(i32, usize)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let is_negative = value.first() == Some(&b'-');
    let sign = usize::from(is_negative);
    let values = u64::from_le_bytes(*value.get(sign..)?.first_chunk()?) ^ ZEROS;
    // The high bit of a byte is set when it is no digit, or such a byte carried into it.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let bits = others.trailing_zeros() & !7;
    if bits == 0 || bits == u64::BITS {
        return None;
    }
    let length = sign + bits as usize / 8;
    let [first_digit, ..] = values.to_le_bytes();
    let is_plain = (first_digit != 0 || length == 1) && !matches!(value.get(length), Some(b'.' | b'e' | b'E'));
    let digits = values << (u64::BITS - bits);
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFF_FFFF;
    let magnitude = i32::try_from(all).ok()?;
    is_plain.then_some((if is_negative { -magnitude } else { magnitude }, length))
}

/// The sink of dropped records.
struct Dropped;

impl Sink for Dropped {
    fn cell(&mut self, _column: usize, _cell: Cell) -> CellResult {
        Ok(())
    }
    fn short_string(&mut self, _column: usize, _text: &Bytes32, _length: usize) -> bool {
        true
    }
    fn short_integer(&mut self, _column: usize, _integer: i32, _written: &Bytes32, _length: usize) -> bool {
        true
    }
    fn end_record(&mut self) {}
    fn undo_record(&mut self) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_short_integer_is_that_of_the_standard_library(number in "-?[0-9]{0,9}", after in "[,}. eE\\n\\]x-]") {
            let mut value = [b'"'; VALUE];
            let text = format!("{number}{after}");
            value[..text.len()].copy_from_slice(text.as_bytes());
            let digits = number.trim_start_matches('-');
            let is_short = !digits.is_empty() && digits.len() < 8;
            let is_json = digits == "0" && number == digits || !digits.starts_with('0');
            let expected = (is_short && is_json && !".eE".contains(&after)).then(|| number.parse().expect("an integer"));
            prop_assert_eq!(short_integer(&value), expected.map(|integer| (integer, number.len())));
        }
    }
}
