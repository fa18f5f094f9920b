//! Predicts the keys of a record: those of the records before, in the same order.
//!
//! A key is compared as written, with the comma before it, its white space and its colon, so that one SIMD comparison
//! recognizes it.

use super::seen::Seen;
use super::vector::{Block, Simd, WIDTH, same};

/// How many keys that were not requested are remembered.
const MAX_EXTRAS: usize = 64;
/// After this many mispredicted records in a row the order is learned anew.
const MIN_PATIENCE: u32 = 4;
/// The patience doubles each time up to this, because records in random order are not worth learning.
const MAX_PATIENCE: u32 = 1_024;

/// The mask of the byte before a key as written: a comma, or the brace of the record.
pub(super) const BEFORE: u32 = 1;

/// A known key, as far as the loop over expected keys needs it: small, because the loop reads all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    head: Block,
    /// The bit of its column in [`Seen`]. None for a key that was not requested.
    pub(super) bit: u64,
    /// A bit for each byte of the head that follows the key.
    free: u32,
    /// Bytes of the key as written, from the comma before it up to its value.
    pub(super) length: u8,
    pub(super) column: u8,
}

/// More than the bytes of any key that the loop reads, and a power of two.
pub(super) const MAX_KEY: u8 = 64;

impl Expected {
    /// `written` begins with the comma, or with the brace of the record. What the loop cannot read matches nothing: a
    /// key that is longer than the head, or one whose column has no bit.
    fn new(written: &[u8], column: Option<usize>) -> Self {
        let bit = column.map_or(Some(0), Seen::bit);
        let straight = bit.zip(u8::try_from(written.len()).ok().filter(|length| usize::from(*length) <= WIDTH));
        let column = column.and_then(|column| u8::try_from(column).ok()).unwrap_or_default();
        let Some((bit, length)) = straight else {
            return Self { head: [u8::MAX; WIDTH], bit: 0, free: 0, length: 0, column };
        };
        let mut head = [0; WIDTH];
        if let Some(head) = head.get_mut(..written.len()) {
            head.copy_from_slice(written);
        }
        if let Some(first) = head.first_mut() {
            *first = b',';
        }
        let free = u32::MAX.checked_shl(length.into()).unwrap_or_default();
        Self { head, bit, free, length, column }
    }

    /// Whether a block begins with the key. `ignored` has a bit for each byte that is not compared.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key: a call would cost as much as the work")]
    pub(super) fn begins<V: Simd>(&self, simd: V, block: &Block, ignored: u32) -> bool {
        same(simd, &self.head, block) | self.free | ignored == u32::MAX
    }
}

/// The rest of a known key.
#[derive(Debug)]
struct Field {
    /// Unescaped. Empty for a requested key, as only the others are shown.
    name: String,
    column: Option<usize>,
    written: Box<[u8]>,
}

/// A key that was recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// None for a key that was not requested.
    pub(super) column: Option<usize>,
    /// Bytes as written, from the comma before it up to its value.
    pub(super) length: usize,
}

/// The known keys in the order of a record, and the position in the current record.
#[derive(Debug)]
pub(super) struct KeyPredictor {
    expected: Vec<Expected>,
    /// As many as `expected`.
    fields: Vec<Field>,
    max_fields: usize,
    /// Index of the key that is expected next.
    next: usize,
    /// Keys of the current record that were new or came after later ones.
    misses: usize,
    /// Mispredicted records in a row.
    mispredicted: u32,
    patience: u32,
}

impl KeyPredictor {
    pub(super) fn new(columns: usize) -> Self {
        let max_fields = columns + MAX_EXTRAS;
        let (expected, fields) = (Vec::with_capacity(columns), Vec::with_capacity(columns));
        Self { expected, fields, max_fields, next: 0, misses: 0, mispredicted: 0, patience: MIN_PATIENCE }
    }

    #[inline]
    pub(super) fn begin_record(&mut self) {
        (self.next, self.misses) = (0, 0);
    }

    /// The known keys in their order, and the index of the one that is expected next.
    #[inline]
    pub(super) fn expected(&self) -> (&[Expected], usize) {
        (&self.expected, self.next)
    }

    /// The name of the key that was read last.
    pub(super) fn last_name(&self) -> &str {
        self.name(self.next.saturating_sub(1))
    }

    /// The name of the key with this index.
    pub(super) fn name(&self, index: usize) -> &str {
        self.fields.get(index).map_or("", |field| &field.name)
    }

    /// How many keys of the current record were not where they were expected.
    #[inline]
    pub(super) fn misses(&self) -> usize {
        self.misses
    }

    /// Expects the key with this index next. So many keys of the record were not where they were expected. If it is not
    /// the record with which the last call was made, those before it had no such keys.
    #[inline]
    pub(super) fn advance_to(&mut self, next: usize, misses: usize, is_other_record: bool) {
        (self.next, self.misses) = (next, misses);
        if is_other_record {
            self.mispredicted = 0;
        }
    }

    /// The key that begins behind the first of these bytes, if it is known. It counts as read.
    pub(super) fn recognize(&mut self, bytes: &[u8]) -> Option<Key> {
        let is_next = self.begins(self.next, bytes);
        let index = if is_next { self.next } else { self.search(bytes)? };
        let field = self.fields.get(index)?;
        let key = Key { column: field.column, length: field.written.len() };
        self.misses += usize::from(index < self.next);
        self.next = index + 1;
        Some(key)
    }

    /// The index of a known key. Searches the later keys first, because keys may be left out.
    fn search(&self, bytes: &[u8]) -> Option<usize> {
        let mut indices = (self.next..self.fields.len()).chain(0..self.next);
        indices.find(|index| self.begins(*index, bytes))
    }

    /// Whether the bytes begin with a known key, behind any one byte.
    fn begins(&self, index: usize, bytes: &[u8]) -> bool {
        let written = self.fields.get(index).and_then(|field| field.written.get(1..));
        written.zip(bytes.get(1..)).is_some_and(|(written, bytes)| bytes.starts_with(written))
    }

    /// Adds a key that was not known, as the one expected here. It counts as read.
    pub(super) fn learn(&mut self, written: &[u8], name: &str, column: Option<usize>) -> Key {
        let expected = Expected::new(written, column);
        let name = if column.is_none() { name.to_owned() } else { String::new() };
        let field = Field { name, column, written: written.into() };
        let index = self.next.min(self.max_fields - 1);
        if self.fields.len() < self.max_fields {
            self.fields.insert(index, field);
            self.expected.insert(index, expected);
        } else if let (Some(known), Some(known_expected)) = (self.fields.get_mut(index), self.expected.get_mut(index)) {
            (*known, *known_expected) = (field, expected);
        }
        self.misses += 1;
        self.next = index + 1;
        Key { column, length: written.len() }
    }

    /// Ends a record of this many keys. Forgets the order when most keys were mispredicted for several records.
    #[inline]
    pub(super) fn end_record(&mut self, keys: impl FnOnce() -> usize) {
        if self.misses == 0 || self.misses * 2 <= keys() {
            self.mispredicted = 0;
            return;
        }
        self.mispredicted += 1;
        if self.mispredicted > self.patience {
            self.expected.clear();
            self.fields.clear();
            self.mispredicted = 0;
            self.patience = (self.patience * 2).min(MAX_PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows `,"a":`, `,"b":` and `,"c":`, in this order.
    fn predictor() -> KeyPredictor {
        let mut predictor = KeyPredictor::new(3);
        for (column, name) in ["a", "b", "c"].into_iter().enumerate() {
            predictor.learn(format!(",\"{name}\":").as_bytes(), name, Some(column));
        }
        predictor
    }

    impl KeyPredictor {
        /// The key recognized where the field of this index is expected, and whether that is a miss.
        fn recognized(&mut self, next: usize, bytes: &str) -> Option<(&str, bool)> {
            (self.next, self.misses) = (next, 0);
            self.recognize(bytes.as_bytes())?;
            let written = str::from_utf8(&self.fields[self.next - 1].written).expect("a key");
            Some((written.trim_matches([',', '"', ':']), self.misses > 0))
        }

        fn end_records(&mut self, records: u32, misses: usize) {
            for _ in 0..records {
                self.misses = misses;
                self.end_record(|| 3);
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
        predictor.learn(long.as_bytes(), "long", None);
        assert_eq!(predictor.recognized(3, &format!("{long}1")), Some((long.trim_matches([',', '"', ':']), false)));
        assert_eq!(predictor.recognized(3, &format!("{other}1")), None);
    }

    #[test]
    fn keys_beyond_the_maximum_replace_others() {
        let mut predictor = predictor();
        for number in 0..2 * predictor.max_fields {
            let written = format!(",\"{number}\":");
            predictor.learn(written.as_bytes(), "n", None);
            let index = predictor.next - 1;
            assert_eq!(predictor.recognized(index, &written), Some((number.to_string().as_str(), false)));
        }
        assert_eq!(predictor.fields.len(), predictor.max_fields);
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
}
