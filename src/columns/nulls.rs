//! The validity bitmap of a column. Unlike Arrow's builder, it does no work for cells with values.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// The nulls among the cells of a column.
#[derive(Debug, Default)]
pub(super) struct Nulls {
    /// A bit for each cell up to the last null, set for a null.
    words: Vec<u64>,
}

impl Nulls {
    /// Marks the cell at this index.
    #[inline]
    pub(super) fn push(&mut self, index: usize) {
        match self.words.get_mut(index / 64) {
            Some(word) => *word |= 1 << (index % 64),
            None => self.grow(index),
        }
    }

    /// Marks a cell behind those that have bits.
    #[cold]
    fn grow(&mut self, index: usize) {
        self.words.resize(index / 64, 0);
        self.words.push(1 << (index % 64));
    }

    /// Keeps only the first `cells` cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.words.truncate(cells.div_ceil(64));
        if let Some(last) = self.words.get_mut(cells / 64) {
            *last &= (1 << (cells % 64)) - 1;
        }
    }

    /// Takes the bitmap of the first `cells` cells. None when all of them have values.
    pub(super) fn finish(&mut self, cells: usize) -> Option<NullBuffer> {
        if self.words.iter().all(|word| *word == 0) {
            self.words.clear();
            return None;
        }
        self.words.resize(cells.div_ceil(64), 0);
        // Arrow's bitmap is little-endian and marks the cells with values.
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
                    let marked = cells.iter().enumerate().skip(from).filter(|(_, is_null)| **is_null);
                    marked.for_each(|(index, _)| nulls.push(index));
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
