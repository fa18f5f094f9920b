//! What the keys of the next record will probably be: those of the records before, in their order.
//!
//! A key is known by its bytes as written, so that one wide compare tells it, escapes, colon and all. Knows neither
//! values nor sinks.

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

/// The keys, in the order of a record.
#[derive(Debug)]
pub(super) struct Layout {
    fields: Vec<Field>,
    most_fields: usize,
    /// The place that is expected next.
    next: usize,
    /// Keys of this record, and those that stood in no foreseen place.
    keys: usize,
    misses: usize,
    strikes: u32,
    patience: u32,
}

impl Layout {
    pub(super) fn new(columns: usize) -> Self {
        let most_fields = columns + MOST_EXTRAS;
        let patience = FIRST_PATIENCE;
        Self { fields: Vec::new(), most_fields, next: 0, keys: 0, misses: 0, strikes: 0, patience }
    }

    /// A record begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        (self.next, self.keys, self.misses) = (0, 0, 0);
    }

    /// The key with which the bytes begin, and its length as written to behind the colon.
    #[inline]
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<(&Field, usize)> {
        let expected = self.fields.get(self.next).is_some_and(|field| field.written.begins(bytes));
        let place = if expected { self.next } else { self.look(bytes)? };
        self.keys += 1;
        self.next = place + 1;
        let field = self.fields.get(place)?;
        Some((field, field.written.length()))
    }

    /// Keys may be left out, so that a later one is here; or they are in another order.
    #[cold]
    fn look(&mut self, bytes: &[u8]) -> Option<usize> {
        let (before, after) = self.fields.split_at_checked(self.next)?;
        let begins = |field: &Field| field.written.begins(bytes);
        let ahead = after.iter().position(begins).map(|place| self.next + place);
        ahead.or_else(|| {
            self.misses += 1;
            before.iter().position(begins)
        })
    }

    /// Takes a key in that was not known, as the one that stands here.
    pub(super) fn learn(&mut self, written: &[u8], name: &str, column: Option<usize>) -> Option<&Field> {
        let field = Field { name: name.to_owned(), column, written: Written::new(written) };
        self.keys += 1;
        let place = self.next.min(self.most_fields - 1);
        if self.fields.len() < self.most_fields {
            self.fields.insert(place, field);
        } else if let Some(known) = self.fields.get_mut(place) {
            *known = field;
        }
        self.next = place + 1;
        self.fields.get(place)
    }

    /// A record is complete. Forgets the order when it has not held for some time.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.misses * 2 <= self.keys {
            self.strikes = 0;
            return;
        }
        self.strikes += 1;
        if self.strikes > self.patience {
            self.fields.clear();
            self.strikes = 0;
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
    }
}

/// A key as it is written, from its first quote to behind the colon.
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
    fn length(&self) -> usize {
        self.whole.len()
    }

    #[inline]
    fn begins(&self, bytes: &[u8]) -> bool {
        let Some(head) = bytes.first_chunk() else { return bytes.starts_with(&self.whole) };
        let same = self.head.simd_eq(u8x32::new(*head)).to_bitmask();
        same & self.needed == self.needed && (self.length() <= WIDTH || bytes.starts_with(&self.whole))
    }
}
