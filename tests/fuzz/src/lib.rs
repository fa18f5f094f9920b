//! What the targets share.

pub mod rows;
pub mod service;

/// Choices that follow from the input: an input is a body and nothing else, and fails again where it failed once.
pub struct Choices(u64);

impl Choices {
    /// Choices for an input.
    pub fn of(input: &[u8]) -> Self {
        // FNV-1a, whose seed must not be zero for the generator below.
        let hash = input
            .iter()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
        Self(hash | 1)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Cuts a body into pieces: few, each of one byte, or something between.
    pub fn pieces<'a>(&mut self, body: &'a [u8]) -> Vec<&'a [u8]> {
        let most = *self.one(&[1, 4, 40, body.len().max(1)]);
        let (mut pieces, mut rest) = (Vec::new(), body);
        while !rest.is_empty() {
            let (piece, others) = rest.split_at((1 + self.below(most)).min(rest.len()));
            pieces.push(piece);
            rest = others;
        }
        pieces
    }
}
