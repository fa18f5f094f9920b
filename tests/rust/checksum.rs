//! The replacement of `crc-fast` (`patches/crc-fast`) computes CRC-64/NVME, and the C code in a wheel has the versions
//! that `SECURITY.md` names.

use std::fs;

use crc_fast::{CrcAlgorithm, Digest};
use proptest::prelude::*;

fn checksum<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
    pieces.into_iter().for_each(|piece| digest.update(piece));
    digest.finalize()
}

/// The definition: a division of polynomials, bit by bit, with input and output reflected.
fn divided(bytes: &[u8]) -> u64 {
    const GENERATOR: u64 = 0xAD93_D235_94C9_3659;
    let mut remainder = u64::MAX;
    for byte in bytes {
        remainder ^= u64::from(byte.reverse_bits()) << 56;
        for _ in 0..8 {
            let carry = remainder >> 63;
            remainder = (remainder << 1) ^ (carry * GENERATOR);
        }
    }
    !remainder.reverse_bits()
}

/// The check value of the catalogue of CRCs, and the vectors of the NVM Express specification.
#[test]
fn published_vectors_have_their_checksums() {
    let page = |byte: fn(usize) -> u8| (0..4_096).map(byte).collect::<Vec<u8>>();
    let vectors = [
        (b"123456789".to_vec(), 0xAE8B_1486_0A79_9888),
        (Vec::new(), 0),
        (page(|_| 0), 0x6482_D367_EB22_B64E),
        (page(|_| 0xFF), 0xC0DD_BA73_02EC_A3AC),
        (page(|index| index.to_le_bytes()[0]), 0x3E72_9F5F_6750_449C),
        (page(|index| !index.to_le_bytes()[0]), 0x9A2D_F64B_8E9E_517E),
    ];
    for (bytes, expected) in vectors {
        assert_eq!(checksum([bytes.as_slice()]), expected);
        assert_eq!(divided(&bytes), expected);
    }
}

proptest! {
    #[test]
    fn any_pieces_have_the_checksum_of_the_definition(pieces: Vec<Vec<u8>>) {
        prop_assert_eq!(checksum(pieces.iter().map(Vec::as_slice)), divided(&pieces.concat()));
    }
}

#[test]
fn the_libraries_in_c_have_the_versions_that_the_page_names() {
    let page = fs::read_to_string("SECURITY.md").unwrap();
    let sqlite = rusqlite::version();
    assert!(page.contains(&format!("| SQLite | {sqlite} |")), "SQLite is {sqlite}");
    let zstd = zstd::zstd_safe::version_string();
    assert!(page.contains(&format!("| zstd | {zstd} |")), "zstd is {zstd}");
}
