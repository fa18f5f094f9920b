//! What the keys of the next record will probably be: those of the records before, in their order.
//!
//! A key is known by its bytes as written, white space and colon and all, so that one wide compare tells it. Knows
//! neither values nor sinks.

use wide::u8x32;

/// Bytes compared in one go.
const WIDTH: usize = 32;
/// How many unrequested keys are remembered.
const MOST_EXTRAS: usize = 64;
/// So many records in a row that come mostly in another order make it learn anew.
const FIRST_PATIENCE: u32 = 4;
/// Records in no order at all are not worth learning again and again.
const MOST_PATIENCE: u32 = 1_024;

/// A key that was met.
#[derive(Debug)]
pub(super) struct Field {
    /// Unescaped.
    pub(super) name: String,
    /// None for a key nobody asked for.
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

/// The keys, in the order of a record.
#[derive(Debug)]
pub(super) struct KeyPredictor {
    fields: Vec<Field>,
    most_fields: usize,
    misses: u32,
    patience: u32,
}

impl KeyPredictor {
    pub(super) fn new(columns: usize) -> Self {
        Self { fields: Vec::new(), most_fields: columns + MOST_EXTRAS, misses: 0, patience: FIRST_PATIENCE }
    }

    /// The key at the place that is due, if the bytes begin with it.
    #[inline]
    pub(super) fn expected(&self, next: usize, bytes: &[u8]) -> Option<&Field> {
        self.fields.get(next).filter(|field| field.written.begins(bytes))
    }

    /// The key with which the bytes begin, and its place: a later one, as keys may be left out, or an earlier one.
    #[cold]
    pub(super) fn find(&self, next: usize, bytes: &[u8]) -> Option<(usize, &Field)> {
        let (before, after) = self.fields.split_at_checked(next)?;
        let mut fields = (next..).zip(after).chain((0..).zip(before));
        fields.find(|(_, field)| field.written.begins(bytes))
    }

    /// Takes in a key that was not known, as the one that is due, and answers with it and its place.
    pub(super) fn learn(
        &mut self,
        next: usize,
        written: &[u8],
        name: &str,
        column: Option<usize>,
    ) -> Option<(usize, &Field)> {
        let field = Field { name: name.to_owned(), column, written: Written::new(written) };
        let place = next.min(self.most_fields - 1);
        if self.fields.len() < self.most_fields {
            self.fields.insert(place, field);
        } else if let Some(known) = self.fields.get_mut(place) {
            *known = field;
        }
        self.fields.get(place).map(|field| (place, field))
    }

    /// A record is complete. Forgets the order when most keys have not been where they were due for some time.
    #[inline]
    pub(super) fn record_outcome(&mut self, keys: usize, misses: usize) {
        if misses * 2 <= keys {
            self.misses = 0;
            return;
        }
        self.misses += 1;
        if self.misses > self.patience {
            self.fields.clear();
            self.misses = 0;
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
    }
}

/// A key as it is written, from behind a comma or brace to its value.
#[derive(Debug)]
struct Written {
    head: u8x32,
    /// A bit for each byte of the head.
    needed: u32,
    whole: Box<[u8]>,
}

impl Written {
    fn new(whole: &[u8]) -> Self {
        let mut head = [0; WIDTH];
        let mut needed = 0;
        for (place, (byte, head)) in whole.iter().zip(&mut head).enumerate() {
            *head = *byte;
            needed |= 1 << place;
        }
        Self { head: u8x32::new(head), needed, whole: whole.into() }
    }

    #[inline]
    fn begins(&self, bytes: &[u8]) -> bool {
        let Some(head) = bytes.first_chunk() else { return bytes.starts_with(&self.whole) };
        let same = self.head.simd_eq(u8x32::new(*head)).to_bitmask();
        same & self.needed == self.needed && (self.whole.len() <= WIDTH || bytes.starts_with(&self.whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows `"a":`, `"b":` and `"c":`, in this order.
    fn predictor() -> KeyPredictor {
        let mut predictor = KeyPredictor::new(3);
        for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
            predictor.learn(place, format!("\"{name}\":").as_bytes(), name, Some(place)).expect("room");
        }
        predictor
    }

    fn name(found: Option<(usize, &Field)>) -> Option<(usize, &str)> {
        found.map(|(place, field)| (place, field.name.as_str()))
    }

    #[test]
    fn a_key_is_known_where_it_is_due_later_and_earlier() {
        let predictor = predictor();
        assert_eq!(predictor.expected(1, br#""b":1"#).map(Field::length), Some(4));
        assert!(predictor.expected(1, br#""c":1"#).is_none());
        assert_eq!(name(predictor.find(1, br#""c":1"#)), Some((2, "c")));
        assert_eq!(name(predictor.find(3, br#""a":1"#)), Some((0, "a")));
        assert_eq!(name(predictor.find(0, br#""b" :1"#)), None, "written otherwise");
        assert_eq!(name(predictor.find(0, br#""b"#)), None, "cut");
    }

    #[test]
    fn long_keys_are_told_apart_behind_the_bytes_compared_in_one_go() {
        let mut predictor = predictor();
        let (long, other) = (format!("\"{}x\":", "k".repeat(40)), format!("\"{}y\":", "k".repeat(40)));
        predictor.learn(3, long.as_bytes(), "long", None).expect("room");
        assert!(predictor.expected(3, format!("{long}1").as_bytes()).is_some());
        assert!(predictor.expected(3, format!("{other}1").as_bytes()).is_none());
    }

    #[test]
    fn an_order_is_forgotten_only_when_it_fails_for_some_time() {
        let mut predictor = predictor();
        for _ in 0..FIRST_PATIENCE {
            predictor.record_outcome(3, 2);
        }
        predictor.record_outcome(3, 0);
        for _ in 0..FIRST_PATIENCE {
            predictor.record_outcome(3, 2);
        }
        assert!(predictor.expected(0, br#""a":1"#).is_some(), "a good record came between");
        predictor.record_outcome(3, 2);
        assert!(predictor.expected(0, br#""a":1"#).is_none());
        assert_eq!(predictor.patience, 2 * FIRST_PATIENCE);
    }

    #[test]
    fn keys_beyond_the_room_replace_others() {
        let mut predictor = predictor();
        for number in 0..2 * predictor.most_fields {
            let written = format!("\"{number}\":");
            let (place, _) = predictor.learn(number, written.as_bytes(), "n", None).expect("room");
            assert!(predictor.expected(place, written.as_bytes()).is_some());
        }
        assert_eq!(predictor.fields.len(), predictor.most_fields);
    }
}
