//! Decompresses bodies at any split and of any number of members or frames, and refuses every damaged one.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;
use zstd::stream::raw::CParameter;

use super::*;

const ENCODINGS: [Encoding; 2] = [Encoding::Gzip, Encoding::Zstd];
/// A skippable frame of zstd.
const SKIPPABLE: [u8; 11] = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0xfd, 0x2f, 0xb5];

/// One gzip member or zstd frame, with a checksum.
fn compress(encoding: Encoding, plain: &[u8], level: u8) -> Vec<u8> {
    match encoding {
        Encoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(u32::from(level)));
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Encoding::Zstd => zstd_with(plain, level, &[CParameter::ChecksumFlag(true)]),
    }
}

fn zstd_with(plain: &[u8], level: u8, parameters: &[CParameter]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), i32::from(level)).unwrap();
    for parameter in parameters {
        encoder.set_parameter(*parameter).unwrap();
    }
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Decompresses a body that is fed in parts of these sizes, in turn.
fn inflate(encoding: Encoding, body: &[u8], parts: &[usize]) -> Result<Vec<u8>> {
    let mut rest = body;
    let mut parts = parts.iter().cycle();
    let pieces = std::iter::from_fn(|| {
        let (piece, others) = rest.split_at(*parts.next().unwrap_or(&rest.len()).min(&rest.len()));
        rest = others;
        (!piece.is_empty()).then_some(piece)
    });
    let mut plain = Vec::new();
    super::inflate(encoding.name(), pieces, |chunk| {
        assert!(chunk.len() <= CHUNK, "a chunk is bounded");
        plain.extend_from_slice(chunk);
        Ok(())
    })?;
    Ok(plain)
}

/// Bytes to compress: repetitive, so that matches reach far, or random.
fn plain() -> impl Strategy<Value = Vec<u8>> {
    let repeated = (vec(any::<u8>(), 1..50), 0_usize..9_000);
    let repeated = repeated.prop_map(|(unit, times)| unit.into_iter().cycle().take(times).collect());
    prop_oneof![repeated, vec(any::<u8>(), 0..3_000), vec(b'a'..b'e', 0..100_000)]
}

fn encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![Just(Encoding::Gzip), Just(Encoding::Zstd)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_body_is_decompressed_at_any_split(
        encoding in encoding(),
        parts in vec((plain(), 1_u8..10), 1..4),
        sizes in vec(1_usize..5_000, 0..6),
    ) {
        let body: Vec<u8> = parts.iter().flat_map(|(plain, level)| compress(encoding, plain, *level)).collect();
        let plain: Vec<u8> = parts.into_iter().flat_map(|(plain, _)| plain).collect();
        prop_assert_eq!(inflate(encoding, &body, &sizes).unwrap(), plain);
    }

    #[test]
    fn a_changed_body_is_never_decompressed_to_something_else(
        encoding in encoding(),
        plain in plain(),
        level in 1_u8..10,
        index in any::<prop::sample::Index>(),
        changed in 1_u8..,
        size in 1_usize..5_000,
    ) {
        let mut body = compress(encoding, &plain, level);
        let index = index.index(body.len());
        body[index] ^= changed;
        // Some bits of a header, such as the time, do not change the content.
        if let Ok(other) = inflate(encoding, &body, &[size]) {
            prop_assert_eq!(other, plain);
        }
    }

    #[test]
    fn random_bytes_are_an_error(encoding in encoding(), body in vec(any::<u8>(), 0..2_000)) {
        let error = inflate(encoding, &body, &[]).unwrap_err();
        prop_assert!(matches!(error.kind(), Kind::MalformedHttp | Kind::TruncatedResponse));
    }
}

#[test]
fn a_body_cut_at_any_byte_is_never_complete() {
    for encoding in ENCODINGS {
        let body = compress(encoding, &br#"{"code":200,"data":{"status":true,"data":[]}}"#.repeat(9), 6);
        for end in 0..body.len() {
            for size in [1, end.max(1)] {
                let error = inflate(encoding, &body[..end], &[size]).unwrap_err();
                assert_eq!((error.kind(), error.is_retryable()), (Kind::TruncatedResponse, true), "{end}");
                assert_eq!(error.details().received, Some(end as u64));
            }
        }
        assert!(inflate(encoding, &body, &[1]).is_ok());
        let twice = [&body[..], &body[..]].concat();
        for end in body.len() + 1..twice.len() {
            let error = inflate(encoding, &twice[..end], &[]).unwrap_err();
            assert_eq!(error.kind(), Kind::TruncatedResponse, "{end}");
        }
    }
}

#[test]
fn a_changed_checksum_or_content_is_malformed_and_retryable() {
    for encoding in ENCODINGS {
        let body = compress(encoding, b"some text and some more text", 6);
        for place in [body.len() - 1, body.len() / 2] {
            let mut body = body.clone();
            body[place] ^= 1;
            let error = inflate(encoding, &body, &[]).unwrap_err();
            assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, true));
        }
    }
}

#[test]
fn data_after_the_end_is_malformed() {
    for encoding in ENCODINGS {
        for garbage in [&b"\n"[..], b"\0\0\0\n", b"{\"code\":200}"] {
            let body = [&compress(encoding, b"text", 6), garbage].concat();
            for size in [1, body.len()] {
                let error = inflate(encoding, &body, &[size]).unwrap_err();
                assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, true));
                assert!(error.message().contains("follows"), "{error:?}");
            }
        }
    }
}

#[test]
fn a_body_that_is_not_compressed_is_found_by_its_first_byte() {
    for encoding in ENCODINGS {
        let error = inflate(encoding, b"{", &[]).unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, true));
    }
}

#[test]
fn skippable_frames_may_occur_anywhere() {
    let frame = compress(Encoding::Zstd, b"text", 3);
    let body = [&SKIPPABLE[..], &frame, &SKIPPABLE, &SKIPPABLE, &frame, &SKIPPABLE].concat();
    for size in 1..body.len() {
        assert_eq!(inflate(Encoding::Zstd, &body, &[size]).unwrap(), b"texttext");
    }
    let error = inflate(Encoding::Zstd, &body[..body.len() - 1], &[]).unwrap_err();
    assert_eq!(error.kind(), Kind::TruncatedResponse);
}

#[test]
fn the_window_of_zstd_is_at_most_8_mib() {
    let with_window =
        |log| zstd_with(&noise(100), 3, &[CParameter::WindowLog(log), CParameter::ContentSizeFlag(false)]);
    assert!(inflate(Encoding::Zstd, &with_window(23), &[]).is_ok());
    let error = inflate(Encoding::Zstd, &with_window(24), &[]).unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedHttp);
}

#[test]
fn a_highly_compressed_body_costs_no_memory() {
    for encoding in ENCODINGS {
        let body = compress(encoding, &vec![0; 32 << 20], 9);
        assert!(body.len() < (32 << 20) / 500, "{}", body.len());
        let mut inflate = Inflate::try_new(encoding).unwrap();
        inflate.feed(body.into());
        let mut size = 0;
        while inflate.next().unwrap() {
            assert!(inflate.chunk.capacity() <= 2 * CHUNK);
            size += inflate.chunk().len();
        }
        assert_eq!(size, 32 << 20);
    }
}

#[test]
fn all_received_bytes_are_decompressed_before_more_are_needed() {
    let plain: Vec<u8> = noise(128 << 10).iter().map(|byte| byte & 1).collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    // The gzip encoder keeps what does not fit its buffer, so it is flushed often.
    for (encoder, bytes) in [(&mut gzip as &mut dyn Write, 16 << 10), (&mut zstd, plain.len())] {
        for part in plain.chunks(bytes) {
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
        }
    }
    for (encoding, flushed) in [(Encoding::Gzip, gzip.get_ref()), (Encoding::Zstd, zstd.get_ref())] {
        let mut inflate = Inflate::try_new(encoding).unwrap();
        inflate.feed(flushed.clone().into());
        let mut got = Vec::new();
        while inflate.next().unwrap() {
            got.extend_from_slice(inflate.chunk());
        }
        assert!(got == plain, "{} of {} bytes of {encoding:?}", got.len(), plain.len());
    }
}

#[test]
fn a_decoder_without_progress_is_an_error() {
    #[derive(Debug)]
    struct Idle;
    impl Format for Idle {
        fn step(&mut self, _: &[u8], _: &mut Vec<u8>) -> std::io::Result<Step> {
            Ok(Step { read: 0, has_ended: true })
        }
    }
    let mut inflate = Inflate { format: Box::new(Idle), ..Inflate::try_new(Encoding::Gzip).unwrap() };
    inflate.feed(compress(Encoding::Gzip, b"text", 6).into());
    assert_eq!(inflate.next().unwrap_err().kind(), Kind::MalformedHttp);
}

#[test]
fn endless_padding_is_refused() {
    for (encoding, padding) in
        [(Encoding::Gzip, compress(Encoding::Gzip, b"", 6)), (Encoding::Zstd, SKIPPABLE.to_vec())]
    {
        let times = usize::try_from(PADDING_ALLOWANCE).unwrap() / padding.len();
        assert!(inflate(encoding, &padding.repeat(times), &[]).is_ok());
        let error = inflate(encoding, &padding.repeat(times + 1), &[]).unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, false));
    }
}

/// Incompressible bytes.
fn noise(bytes: u32) -> Vec<u8> {
    let mixed = |number: u32| number.wrapping_mul(2_654_435_761).wrapping_mul(number ^ 0x9e37_79b9) >> 11;
    (0..bytes).map(|number| mixed(number).to_le_bytes()[0]).collect()
}
