//! CRC-64/NVME, with the names of the crate `crc-fast`: what S3 calls `CRC64NVME`.
//!
//! The tests are in `tests/rust/checksum.rs` and `tests/python/objects/test_storage_options.py`.

/// The polynomial 0xAD93D23594C93659, its bits in reverse order.
const POLYNOMIAL: u64 = 0x9A6C_9329_AC4B_C9B5;
/// What each byte does to a checksum.
static TABLE: [u64; 256] = table();

/// The checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// A checksum of bytes that come in pieces.
#[derive(Debug, Clone)]
pub struct Digest(u64);

impl Digest {
    /// The checksum of nothing.
    #[must_use]
    pub fn new(CrcAlgorithm::Crc64Nvme: CrcAlgorithm) -> Self {
        Self(!0)
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| {
            let [low, ..] = sum.to_le_bytes();
            TABLE[usize::from(low ^ byte)] ^ (sum >> 8)
        });
    }

    /// The checksum of all bytes so far.
    #[must_use]
    pub fn finalize(&self) -> u64 {
        !self.0
    }
}

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut sum = index as u64;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        table[index] = sum;
        index += 1;
    }
    table
}
