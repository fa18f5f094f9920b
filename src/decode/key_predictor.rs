//! Predicts the keys of a record: the keys of the records before it, in the same order. The first record probably has
//! the requested keys.
//!
//! A key is compared as written, with the comma before it, its white space and its colon, so that one SIMD comparison
//! recognizes it.

use super::expected_key::Expected;
use super::seen_columns::SeenColumns;
use super::string_scan::is_stop;

/// How many other ways to write the requested keys are remembered.
const OTHERS: usize = 64;
/// Bytes of a key that is remembered, as written.
const MAX_KEY: usize = 1_024;
/// After this many mispredicted records in a row the order is learned anew.
const MIN_PATIENCE: u32 = 4;
/// The patience doubles each time up to this, because records in random order are not worth learning.
const MAX_PATIENCE: u32 = 1_024;

/// The rest of a known key.
#[derive(Debug)]
struct Field {
    column: usize,
    /// The key as written, if its [`Expected`] does not have it.
    written: Box<[u8]>,
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
    /// Whether the keys are the requested keys of `new`, which no complete record has confirmed.
    is_guess: bool,
    /// Mispredicted records in a row.
    mispredicted: u32,
    patience: u32,
}

impl KeyPredictor {
    /// Expects the keys of these columns in their order, without white space.
    pub(super) fn new(names: &[String]) -> Self {
        let max_fields = names.len() + OTHERS;
        let (expected, fields) = (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
        let (next, misses, is_guess, mispredicted, patience) = (0, 0, false, 0, MIN_PATIENCE);
        let mut this = Self { expected, fields, max_fields, next, misses, is_guess, mispredicted, patience };
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

    /// The known keys in their order, and the index of the key that is expected next.
    #[inline]
    pub(super) fn expected(&self) -> (&[Expected], usize) {
        (&self.expected, self.next)
    }

    /// The number of keys of the current record that were new or came after later ones.
    #[inline]
    pub(super) fn misses(&self) -> usize {
        self.misses
    }

    /// Sets the next key and the misses of the current record. `is_other_record`: records were finished since, all
    /// without a miss.
    #[inline]
    pub(super) fn advance_to(&mut self, next: usize, misses: usize, is_other_record: bool) {
        (self.next, self.misses) = (next, misses);
        if is_other_record {
            self.mispredicted = 0;
        }
    }

    /// The column of the key that begins behind the first of these bytes, if it is known, and its length as written, from
    /// the comma before it up to its value. It counts as read.
    pub(super) fn recognize(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        let is_next = self.begins(self.next, bytes);
        let index = if is_next { self.next } else { self.search(bytes)? };
        let length = 1 + self.written(index)?.len();
        self.misses += usize::from(index < self.next);
        self.next = index + 1;
        Some((self.fields[index].column, length))
    }

    /// The index of a known key. Searches the later keys first, because keys may be left out.
    fn search(&self, bytes: &[u8]) -> Option<usize> {
        let mut indices = (self.next..self.fields.len()).chain(0..self.next);
        indices.find(|index| self.begins(*index, bytes))
    }

    /// Whether the bytes begin with a known key, behind any one byte.
    fn begins(&self, index: usize, bytes: &[u8]) -> bool {
        self.written(index).zip(bytes.get(1..)).is_some_and(|(written, bytes)| bytes.starts_with(written))
    }

    /// A known key as written, without the byte before it.
    fn written(&self, index: usize) -> Option<&[u8]> {
        self.expected.get(index)?.key().or_else(|| self.fields.get(index)?.written.get(1..))
    }

    /// Adds an unknown key of a column at the position where it was read, unless it is too long. It counts as read.
    #[cold]
    pub(super) fn learn(&mut self, written: &[u8], column: usize) {
        if written.len() > MAX_KEY {
            return;
        }
        if self.is_guess && self.next == 0 {
            // The first key is another one, or written differently: so are probably all.
            self.forget();
        }
        let expected = Expected::new(written, column);
        let field = Field { column, written: expected.key().map_or_else(|| written.into(), |_| Box::default()) };
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
            let written = str::from_utf8(self.written(self.next - 1)?).expect("a key");
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
}
