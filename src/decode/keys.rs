//! The requested columns, and the keys that are expected next.
//!
//! The keys of a record are predicted from the records before it, in the same order. The first record probably has the
//! requested keys. A key is compared as written, with the comma before it, its white space and its colon, so that one
//! SIMD comparison recognizes it.

use std::collections::HashMap;
use std::sync::Arc;

use super::simd::{Bytes32, Simd, WIDTH, is_stop, same};
use super::{Cell, Sink};

/// Up to this number, names are compared one by one: for a small response that is faster than hashing them.
const FEW: usize = 32;

/// Maps names to columns and counts records without them.
#[derive(Debug)]
pub(super) struct ColumnNames {
    pub(super) names: Arc<[String]>,
    /// The column of each name, if there are more than a few names.
    index: Option<HashMap<String, usize>>,
    /// For each column, the records without its key.
    absent: Vec<u64>,
}

impl ColumnNames {
    pub(super) fn new(names: Arc<[String]>) -> Self {
        let index = || names.iter().enumerate().map(|(column, name)| (name.clone(), column)).collect();
        let index = (names.len() > FEW).then(index);
        let absent = vec![0; names.len()];
        Self { names, index, absent }
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.names.iter().position(|known| known == name),
        }
    }

    /// Counts a record without the key of this column.
    pub(super) fn count_absent(&mut self, column: usize) {
        self.absent[column] += 1;
    }

    /// For each column how many of these records have its key.
    pub(super) fn present(&self, records: u64) -> Vec<u64> {
        self.absent.iter().map(|absent| records.saturating_sub(*absent)).collect()
    }
}

/// Columns before this one have a bit in a word.
const NARROW: usize = u64::BITS as usize;

/// The columns that were read.
#[derive(Debug)]
pub(super) struct SeenColumns {
    /// A bit for each of the first columns that was read.
    pub(super) narrow: u64,
    /// The bits of the first columns.
    all_narrow: u64,
    /// Number of the current record.
    record: u64,
    /// For each column without a bit, the number of the last record with its key.
    wide: Vec<u64>,
}

impl SeenColumns {
    pub(super) fn new(columns: usize) -> Self {
        let all_narrow = (0..columns.min(NARROW)).fold(0, |all, column| all | 1 << column);
        Self { narrow: 0, all_narrow, record: 0, wide: vec![0; columns.saturating_sub(NARROW)] }
    }

    #[inline]
    pub(super) fn begin_record(&mut self) {
        self.narrow = 0;
        self.record += 1;
    }

    /// The bit of a column, if it has one.
    pub(super) fn bit(column: usize) -> Option<u64> {
        (column < NARROW).then(|| 1 << column)
    }

    /// Marks a column as read. Returns false if it was already.
    pub(super) fn mark(&mut self, column: usize) -> bool {
        if let Some(bit) = Self::bit(column) {
            let is_new = self.narrow & bit == 0;
            self.narrow |= bit;
            return is_new;
        }
        std::mem::replace(&mut self.wide[column - NARROW], self.record) != self.record
    }

    /// The bits of all columns, if each has one.
    pub(super) fn all_narrow(&self) -> Option<u64> {
        self.wide.is_empty().then_some(self.all_narrow)
    }

    /// How many columns were read, of those that have a bit.
    pub(super) fn count(&self) -> usize {
        self.narrow.count_ones() as usize
    }

    /// Whether all columns were read. May be false although they were.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.narrow == self.all_narrow && self.wide.is_empty()
    }

    /// Writes a null into each column that was not read.
    pub(super) fn fill_absent<S: Sink>(&self, columns: &mut ColumnNames, sink: &mut S) -> Option<()> {
        for column in self.absent() {
            sink.cell(column, Cell::Null).ok()?;
            columns.count_absent(column);
        }
        Some(())
    }

    /// The columns that were not read.
    fn absent(&self) -> impl Iterator<Item = usize> {
        let mut bits = self.all_narrow & !self.narrow;
        let narrow = std::iter::from_fn(move || {
            let column = (bits != 0).then(|| bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            column
        });
        let wide = self.wide.iter().enumerate().filter(|(_, record)| **record != self.record);
        narrow.chain(wide.map(|(column, _)| NARROW + column))
    }
}

/// The mask of the byte before a key as written: a comma, or the brace of the record.
pub(super) const BEFORE: u32 = 1;
/// More than the bytes of any key that the loop reads, and a power of two.
pub(super) const MAX_EXPECTED: u8 = 64;

/// A known key, as far as the loop over expected keys needs it: small, because the loop reads all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    head: Bytes32,
    /// The bit of its column in [`SeenColumns`].
    pub(super) bit: u64,
    /// A bit for each byte of the head that follows the key.
    free: u32,
    /// Bytes of the key as written, from the comma before it up to its value.
    pub(super) length: u8,
    pub(super) column: u8,
}

impl Expected {
    /// Never matches: the general code reads the key.
    const NEVER: Self = Self { head: [u8::MAX; WIDTH], bit: 0, free: 0, length: 0, column: 0 };

    /// `written` begins with the comma, or with the brace of the record. None for keys over 32 bytes and columns from 64
    /// on.
    fn new(written: &[u8], column: usize) -> Option<Self> {
        let bit = SeenColumns::bit(column)?;
        let column = u8::try_from(column).ok()?;
        let length = u8::try_from(written.len()).ok()?;
        let mut head = [0; WIDTH];
        head.get_mut(..written.len())?.copy_from_slice(written);
        head[0] = b',';
        // A key as long as the head leaves no byte free.
        let free = u32::MAX.checked_shl(length.into()).unwrap_or(0);
        Some(Self { head, bit, free, length, column })
    }

    /// Whether a block begins with the key. `ignored` has a bit for each byte that is not compared.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key: a call would cost as much as the work")]
    pub(super) fn begins<V: Simd>(&self, simd: V, block: &Bytes32, ignored: u32) -> bool {
        same(simd, &self.head, block) | self.free | ignored == u32::MAX
    }
}

/// How many other ways to write the requested keys are remembered.
const OTHERS: usize = 64;
/// Bytes of a key that is remembered, as written.
const MAX_KEY: usize = 1_024;
/// After this many mispredicted records in a row the order is learned anew.
const MIN_PATIENCE: u32 = 4;
/// The patience doubles each time up to this, because records in random order are not worth learning.
const MAX_PATIENCE: u32 = 1_024;

/// The column of a known key, and how it is written, without the byte before it.
#[derive(Debug)]
struct Field {
    column: usize,
    written: Box<[u8]>,
}

/// The known keys in the order of a record, and the position in the current record.
#[derive(Debug, Default)]
pub(super) struct KeyPredictor {
    pub(super) expected: Vec<Expected>,
    /// As many as `expected`.
    fields: Vec<Field>,
    max_fields: usize,
    /// Index of the key that is expected next.
    pub(super) next: usize,
    /// Keys of the current record that were new or came after later ones.
    pub(super) misses: usize,
    /// Whether the keys are the requested keys of `new`, which no complete record has confirmed.
    is_guess: bool,
    /// Mispredicted records in a row.
    pub(super) mispredicted: u32,
    patience: u32,
}

impl KeyPredictor {
    /// Expects the keys of these columns in their order, without white space.
    pub(super) fn new(names: &[String]) -> Self {
        let (expected, fields) = (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
        let (max_fields, patience) = (names.len() + OTHERS, MIN_PATIENCE);
        let mut this = Self { expected, fields, max_fields, patience, ..Self::default() };
        let mut written = String::new();
        // A name with a stop byte has to be escaped.
        for (column, name) in names.iter().enumerate().filter(|(_, name)| !name.bytes().any(is_stop)) {
            written.clear();
            written.extend([",\"", name, "\":"]);
            this.learn(written.as_bytes(), column);
        }
        this.begin_record();
        this.is_guess = true;
        this
    }

    #[inline]
    pub(super) fn begin_record(&mut self) {
        (self.next, self.misses) = (0, 0);
    }

    /// The column of the key that begins behind the first of these bytes, if it is known, and its length as written, from
    /// the comma before it up to its value. It counts as read.
    pub(super) fn recognize(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        let bytes = bytes.get(1..)?;
        // The later keys first, because keys may be left out.
        let mut indices = (self.next..self.fields.len()).chain(0..self.next.min(self.fields.len()));
        let index = indices.find(|index| bytes.starts_with(&self.fields[*index].written))?;
        let Field { column, written } = &self.fields[index];
        self.misses += usize::from(index < self.next);
        self.next = index + 1;
        Some((*column, 1 + written.len()))
    }

    /// Adds an unknown key of a column at the position where it was read, unless it is too long. It counts as read.
    #[cold]
    pub(super) fn learn(&mut self, written: &[u8], column: usize) {
        let Some(key) = written.get(1..).filter(|key| key.len() < MAX_KEY) else { return };
        if self.is_guess && self.next == 0 {
            // The first key is written differently: so are probably all.
            self.forget();
        }
        let (field, expected) = (Field { column, written: key.into() }, Expected::new(written, column));
        let expected = expected.unwrap_or(Expected::NEVER);
        let index = self.next.min(self.max_fields - 1);
        let is_guessed = self.is_guess && self.fields.get(index).map(|field| field.column) == Some(column);
        if self.fields.len() < self.max_fields && !is_guessed {
            self.fields.insert(index, field);
            self.expected.insert(index, expected);
        } else {
            (self.fields[index], self.expected[index]) = (field, expected);
        }
        // A key that is written differently does not make the guessed order wrong.
        self.misses += usize::from(!self.is_guess);
        self.next = index + 1;
    }

    /// Ends a record with these columns. Forgets the order when most keys were mispredicted for several records, and a
    /// guess when one was.
    #[inline]
    pub(super) fn end_record(&mut self, seen: &SeenColumns) {
        if self.is_guess && self.misses > 0 {
            self.forget();
        } else if self.misses == 0 || self.misses * 2 <= seen.count() {
            self.mispredicted = 0;
            self.is_guess &= !seen.is_complete();
        } else {
            self.mispredicted += 1;
            if self.mispredicted > self.patience {
                self.forget();
                self.patience = (self.patience * 2).min(MAX_PATIENCE);
            }
        }
    }

    fn forget(&mut self) {
        self.expected.clear();
        self.fields.clear();
        (self.mispredicted, self.is_guess) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has read a record with `,"a":`, `,"b":` and `,"c":`, in this order.
    fn predictor() -> KeyPredictor {
        let mut predictor = KeyPredictor::new(&["a", "b", "c"].map(str::to_owned));
        predictor.next = 3;
        predictor.end_records(1, 0);
        predictor
    }

    impl KeyPredictor {
        /// The key recognized where the field of this index is expected, and whether that is a miss.
        fn recognized(&mut self, next: usize, bytes: &str) -> Option<(&str, bool)> {
            (self.next, self.misses) = (next, 0);
            self.recognize(bytes.as_bytes())?;
            let written = str::from_utf8(&self.fields[self.next - 1].written).expect("a key");
            Some((written.trim_matches(['"', ':']), self.misses > 0))
        }

        fn end_records(&mut self, records: u32, misses: usize) {
            let mut seen = SeenColumns::new(3);
            (0..3).for_each(|column| assert!(seen.mark(column)));
            for _ in 0..records {
                self.misses = misses;
                self.end_record(&seen);
            }
        }
    }

    #[test]
    fn a_key_is_recognized_where_it_is_expected_later_and_earlier() {
        let mut predictor = predictor();
        assert_eq!(predictor.recognized(1, r#","b":1"#), Some(("b", false)));
        assert_eq!(predictor.recognized(1, r#","c":1"#), Some(("c", false)));
        assert_eq!(predictor.recognized(3, r#","a":1"#), Some(("a", true)));
        assert_eq!(predictor.recognized(0, r#","b" :1"#), None, "written differently");
        assert_eq!(predictor.recognized(0, r#","b"#), None, "incomplete");
        assert_eq!(predictor.recognized(0, r#"{"a":1"#), Some(("a", false)), "the first of a record");
        assert_eq!((predictor.expected[1].length, predictor.expected[1].bit), (5, 2));
    }

    #[test]
    fn long_keys_are_compared_in_full() {
        let mut predictor = predictor();
        let (long, other) = (format!(",\"{}x\":", "k".repeat(40)), format!(",\"{}y\":", "k".repeat(40)));
        predictor.learn(long.as_bytes(), 0);
        assert_eq!(predictor.recognized(3, &format!("{long}1")), Some((long.trim_matches([',', '"', ':']), false)));
        assert_eq!(predictor.recognized(3, &format!("{other}1")), None);
    }

    #[test]
    fn keys_beyond_the_maximum_replace_others() {
        let mut predictor = predictor();
        for number in 0..2 * predictor.max_fields {
            let written = format!(",\"{number}\":");
            predictor.learn(written.as_bytes(), 0);
            let index = predictor.next - 1;
            assert_eq!(predictor.recognized(index, &written), Some((number.to_string().as_str(), false)));
        }
        assert_eq!(predictor.fields.len(), predictor.max_fields);
    }

    #[test]
    fn a_guess_is_forgotten_at_the_first_miss() {
        let names = ["a", "\"", "\u{e9}"].map(str::to_owned);
        for (misses, is_kept) in [(0, true), (1, false)] {
            let mut predictor = KeyPredictor::new(&names);
            assert_eq!(predictor.recognized(0, r#","\"":1"#), None, "it has to be escaped");
            predictor.end_records(1, misses);
            assert_eq!(predictor.recognized(0, r#","a":1"#).is_some(), is_kept);
            assert_eq!(predictor.recognized(1, ",\"\u{e9}\":1").is_some(), is_kept);
            assert_eq!(predictor.patience, MIN_PATIENCE);
        }
    }

    #[test]
    fn a_guess_is_confirmed_by_a_complete_record_and_replaced_where_it_is_written_differently() {
        let mut predictor = KeyPredictor::new(&["a", "b", "c"].map(str::to_owned));
        predictor.end_record(&SeenColumns::new(3));
        assert!(predictor.is_guess);
        assert_eq!(predictor.recognized(0, r#","a":1"#), Some(("a", false)));
        predictor.learn(br#", "b":"#, 1);
        assert_eq!((predictor.fields.len(), predictor.misses), (3, 0));
        assert_eq!(predictor.recognized(1, r#", "b":1"#), Some((" \"b", false)));
        predictor.end_records(1, 0);
        assert!(!predictor.is_guess);
    }

    #[test]
    fn an_order_is_forgotten_only_after_several_mispredicted_records() {
        let mut predictor = predictor();
        predictor.end_records(MIN_PATIENCE, 2);
        predictor.end_records(1, 0);
        predictor.end_records(MIN_PATIENCE, 2);
        assert!(predictor.recognized(0, r#","a":1"#).is_some(), "a predicted record came between");
        predictor.end_records(1, 2);
        assert!(predictor.recognized(0, r#","a":1"#).is_none());
        assert_eq!(predictor.patience, 2 * MIN_PATIENCE);
    }

    #[test]
    fn every_column_is_read_once_in_each_record() {
        for count in [0, 1, 63, 64, 65, 130] {
            let mut seen = SeenColumns::new(count);
            for record in 0..3 {
                seen.begin_record();
                assert_eq!(seen.is_complete(), count == 0);
                for column in (0..count).filter(|column| column % 3 == record) {
                    assert!(seen.mark(column) && !seen.mark(column), "{column} of {count}");
                }
                let others: Vec<_> = (0..count).filter(|column| column % 3 != record).collect();
                assert_eq!(seen.absent().collect::<Vec<_>>(), others);
                for column in others {
                    assert!(seen.mark(column));
                }
                assert_eq!(seen.absent().count(), 0);
                assert!(seen.is_complete() || count > NARROW);
            }
        }
    }
}
