//! Compressed bodies of any bytes, at any split: the same as flate2 or zstd decompress at once. A truncated or damaged
//! body is an error, and a chunk has at most 64 KiB.

#![no_main]

use std::io::Read;

use dataaccess::error::{Error, Kind, Result};
use dataaccess::transport::inflate;
use dataaccess_fuzz::Choices;

/// The limit of decompressed bytes. The client has such a limit too.
const MOST: usize = 4 << 20;
const CHUNK: usize = 64 << 10;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::of(body);
    // The first byte decides, as it does for the client.
    let encoding = if body.first() == Some(&0x1f) { "gzip" } else { "zstd" };
    let whole = decompress(encoding, &[body]);
    for pieces in [body.chunks(1).collect(), choices.pieces(body)] {
        let (plain, result) = decompress(encoding, &pieces);
        match (&result, &whole.1) {
            (Ok(()), Ok(())) => assert_eq!(plain, whole.0),
            // How much is decompressed before damage is found depends on what has arrived.
            (Err(one), Err(other)) => {
                let is_limit = [one, other].iter().any(|error| error.kind() == Kind::ResponseTooLarge);
                assert!(is_limit || one.kind() == other.kind(), "{one:?} {other:?} {pieces:?}");
                assert!(plain.starts_with(&whole.0) || whole.0.starts_with(&plain));
            }
            (one, other) => panic!("{one:?} {other:?} {pieces:?}"),
        }
    }
    let (plain, result) = whole;
    let expected = oracle(encoding, body);
    match result {
        Ok(()) => {
            assert_eq!(expected.expect("what others decompress"), plain);
            let error = decompress(encoding, &[&body[..body.len() - 1]]).1.expect_err("a truncated body");
            assert_eq!((error.kind(), error.is_retryable()), (Kind::TruncatedResponse, true), "{error:?}");
        }
        Err(error) => {
            let kinds = [Kind::MalformedHttp, Kind::TruncatedResponse, Kind::ResponseTooLarge];
            assert!(kinds.contains(&error.kind()), "{error:?}");
            if error.kind() != Kind::ResponseTooLarge {
                assert!(expected.is_none_or(|_| is_stricter(encoding, &error)), "refused alone: {error:?}");
            }
        }
    }
});

/// What was decompressed, and whether it is complete.
fn decompress(encoding: &str, pieces: &[&[u8]]) -> (Vec<u8>, Result<()>) {
    let mut plain = Vec::new();
    let result = inflate(encoding, pieces.iter().copied(), |chunk| {
        assert!(!chunk.is_empty() && chunk.len() <= CHUNK, "{}", chunk.len());
        plain.extend_from_slice(chunk);
        if plain.len() > MOST { Err(Error::new(Kind::ResponseTooLarge, "more than the limit")) } else { Ok(()) }
    });
    (plain, result)
}

/// What the libraries decompress at once, if the body is complete.
fn oracle(encoding: &str, body: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let most = MOST as u64 + CHUNK as u64;
    let read = match encoding {
        "gzip" => flate2::read::MultiGzDecoder::new(body).take(most).read_to_end(&mut plain),
        _ => zstd::Decoder::new(body).ok()?.take(most).read_to_end(&mut plain),
    };
    read.ok().map(|_| plain)
}

/// Whether the client refuses what the libraries read.
fn is_stricter(encoding: &str, error: &Error) -> bool {
    // A window of more than 8 MiB; padding; an empty body.
    let text = error.to_string();
    encoding == "zstd" && text.contains("requires too much memory")
        || text.contains("hold only")
        || text.contains("no body")
}
