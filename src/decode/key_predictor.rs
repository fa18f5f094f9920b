//! Predicts the keys of a record: those of the records before, in the same order.
//!
//! A key is compared as written, with its white space and colon, so that one SIMD comparison recognizes it.

use wide::u8x32;

/// Bytes compared at once.
const WIDTH: usize = 32;
/// How many keys that were not requested are remembered.
const MAX_EXTRAS: usize = 64;
/// After this many mispredicted records in a row the order is learned anew.
const MIN_PATIENCE: u32 = 4;
/// The patience doubles each time up to this, because records in random order are not worth learning.
const MAX_PATIENCE: u32 = 1_024;

/// A known key.
#[derive(Debug)]
pub(super) struct Field {
    /// Unescaped.
    pub(super) name: String,
    /// None for a key that was not requested.
    pub(super) column: Option<usize>,
    written: Written,
}

impl Field {
    /// Bytes of the key as written.
    #[inline]
    pub(super) fn length(&self) -> usize {
        self.written.whole.len()
    }
}

/// The known keys in the order of a record, and the position in the current record.
#[derive(Debug)]
pub(super) struct KeyPredictor {
    fields: Vec<Field>,
    max_fields: usize,
    /// Index of the field that is expected next.
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
        Self { fields: Vec::new(), max_fields, next: 0, misses: 0, mispredicted: 0, patience: MIN_PATIENCE }
    }

    #[inline]
    pub(super) fn begin_record(&mut self) {
        (self.next, self.misses) = (0, 0);
    }

    /// The field that the bytes begin with, if its key is known. It counts as read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key: a call would cost as much as the work")]
    pub(super) fn recognize(&mut self, bytes: &[u8]) -> Option<&Field> {
        let expected = self.fields.get(self.next).filter(|field| field.written.begins(bytes));
        let (index, field) = match expected {
            Some(field) => (self.next, field),
            None => search(&self.fields, self.next, bytes)?,
        };
        self.misses += usize::from(index < self.next);
        self.next = index + 1;
        Some(field)
    }

    /// Adds a key that was not known, as the one expected here. It counts as read.
    pub(super) fn learn(&mut self, written: &[u8], name: &str, column: Option<usize>) -> Option<&Field> {
        let field = Field { name: name.to_owned(), column, written: Written::new(written) };
        let index = self.next.min(self.max_fields - 1);
        if self.fields.len() < self.max_fields {
            self.fields.insert(index, field);
        } else if let Some(known) = self.fields.get_mut(index) {
            *known = field;
        }
        self.misses += 1;
        self.next = index + 1;
        self.fields.get(index)
    }

    /// Ends a record of this many keys. Forgets the order when most keys were mispredicted for several records.
    #[inline]
    pub(super) fn end_record(&mut self, keys: usize) {
        if self.misses * 2 <= keys {
            self.mispredicted = 0;
            return;
        }
        self.mispredicted += 1;
        if self.mispredicted > self.patience {
            self.fields.clear();
            self.mispredicted = 0;
            self.patience = (self.patience * 2).min(MAX_PATIENCE);
        }
    }
}

/// The field that the bytes begin with. Searches the later fields first, because keys may be left out.
#[cold]
fn search<'f>(fields: &'f [Field], next: usize, bytes: &[u8]) -> Option<(usize, &'f Field)> {
    let (before, after) = fields.split_at_checked(next)?;
    let mut fields = (next..).zip(after).chain((0..).zip(before));
    fields.find(|(_, field)| field.written.begins(bytes))
}

/// A key as written, from behind a comma or brace up to its value.
#[derive(Debug)]
struct Written {
    head: u8x32,
    /// A bit for each byte of the head.
    mask: u32,
    whole: Box<[u8]>,
}

impl Written {
    fn new(whole: &[u8]) -> Self {
        let mut head = [0; WIDTH];
        let mut mask = 0;
        for (index, (byte, head)) in whole.iter().zip(&mut head).enumerate() {
            *head = *byte;
            mask |= 1 << index;
        }
        Self { head: u8x32::new(head), mask, whole: whole.into() }
    }

    #[inline]
    fn begins(&self, bytes: &[u8]) -> bool {
        let Some(head) = bytes.first_chunk() else { return bytes.starts_with(&self.whole) };
        let same = self.head.simd_eq(u8x32::new(*head)).to_bitmask();
        same & self.mask == self.mask && (self.whole.len() <= WIDTH || bytes.starts_with(&self.whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows `"a":`, `"b":` and `"c":`, in this order.
    fn predictor() -> KeyPredictor {
        let mut predictor = KeyPredictor::new(3);
        for (column, name) in ["a", "b", "c"].into_iter().enumerate() {
            predictor.learn(format!("\"{name}\":").as_bytes(), name, Some(column)).expect("a field");
        }
        predictor
    }

    impl KeyPredictor {
        /// The key recognized where the field of this index is expected, and whether that is a miss.
        fn recognized(&mut self, next: usize, bytes: &str) -> Option<(&str, bool)> {
            (self.next, self.misses) = (next, 0);
            self.recognize(bytes.as_bytes())?;
            Some((self.fields[self.next - 1].name.as_str(), self.misses > 0))
        }

        fn end_records(&mut self, records: u32, misses: usize) {
            for _ in 0..records {
                self.misses = misses;
                self.end_record(3);
            }
        }
    }

    #[test]
    fn a_key_is_recognized_where_it_is_expected_later_and_earlier() {
        let mut predictor = predictor();
        assert_eq!(predictor.recognized(1, r#""b":1"#), Some(("b", false)));
        assert_eq!(predictor.recognized(1, r#""c":1"#), Some(("c", false)));
        assert_eq!(predictor.recognized(3, r#""a":1"#), Some(("a", true)));
        assert_eq!(predictor.recognized(0, r#""b" :1"#), None, "written differently");
        assert_eq!(predictor.recognized(0, r#""b"#), None, "incomplete");
        assert_eq!(predictor.fields[1].length(), 4);
    }

    #[test]
    fn long_keys_are_compared_in_full() {
        let mut predictor = predictor();
        let (long, other) = (format!("\"{}x\":", "k".repeat(40)), format!("\"{}y\":", "k".repeat(40)));
        predictor.learn(long.as_bytes(), "long", None).expect("a field");
        assert_eq!(predictor.recognized(3, &format!("{long}1")), Some(("long", false)));
        assert_eq!(predictor.recognized(3, &format!("{other}1")), None);
    }

    #[test]
    fn keys_beyond_the_maximum_replace_others() {
        let mut predictor = predictor();
        for number in 0..2 * predictor.max_fields {
            let written = format!("\"{number}\":");
            predictor.learn(written.as_bytes(), "n", None).expect("a field");
            let index = predictor.next - 1;
            assert_eq!(predictor.recognized(index, &written), Some(("n", false)));
        }
        assert_eq!(predictor.fields.len(), predictor.max_fields);
    }

    #[test]
    fn an_order_is_forgotten_only_after_several_mispredicted_records() {
        let mut predictor = predictor();
        predictor.end_records(MIN_PATIENCE, 2);
        predictor.end_records(1, 0);
        predictor.end_records(MIN_PATIENCE, 2);
        assert!(predictor.recognized(0, r#""a":1"#).is_some(), "a predicted record came between");
        predictor.end_records(1, 2);
        assert!(predictor.recognized(0, r#""a":1"#).is_none());
        assert_eq!(predictor.patience, 2 * MIN_PATIENCE);
    }
}
