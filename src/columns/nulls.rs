//! Which cells of a column are null: a value costs nothing here, and a null one bit.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// Marks the nulls among cells.
#[derive(Debug, Default)]
pub(super) struct Nulls {
    /// A bit for each null, as far as there are any.
    words: Vec<u64>,
}

impl Nulls {
    /// The cell at this place is one.
    #[inline]
    pub(super) fn push(&mut self, place: usize) {
        let word = place / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (place % 64);
        }
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.words.truncate(cells.div_ceil(64));
        if let Some(last) = self.words.get_mut(cells / 64) {
            *last &= (1 << (cells % 64)) - 1;
        }
    }

    /// What Arrow wants to know of so many cells; none when all have values. Begins anew.
    pub(super) fn finish(&mut self, cells: usize) -> Option<NullBuffer> {
        if self.words.iter().all(|word| *word == 0) {
            self.words.clear();
            return None;
        }
        self.words.resize(cells.div_ceil(64), 0);
        // Arrow counts the bits of bytes, and marks the others.
        let valid: Vec<u64> = self.words.drain(..).map(|word| (!word).to_le()).collect();
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, cells)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Nulls;

    proptest! {
        #[test]
        fn nulls_are_where_they_were_marked(
            batches in prop::collection::vec((prop::collection::vec(any::<bool>(), 0..300), 0_usize..300, any::<bool>()), 1..4)
        ) {
            let mut nulls = Nulls::default();
            for (mut cells, keep, again) in batches {
                let mark = |nulls: &mut Nulls, from: usize| {
                    let places = cells.iter().enumerate().skip(from).filter(|(_, is_null)| **is_null);
                    places.for_each(|(place, _)| nulls.push(place));
                };
                mark(&mut nulls, 0);
                nulls.truncate(keep);
                if again {
                    mark(&mut nulls, keep);
                } else {
                    cells.iter_mut().skip(keep).for_each(|is_null| *is_null = false);
                }
                let found: Option<Vec<bool>> =
                    nulls.finish(cells.len()).map(|nulls| nulls.iter().map(|is_valid| !is_valid).collect());
                prop_assert_eq!(found, Some(cells).filter(|cells| cells.contains(&true)));
            }
        }
    }
}
