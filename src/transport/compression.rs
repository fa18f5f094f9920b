//! The compression of bodies: its negotiation by headers, and async-compression on the bytes that have arrived.
//!
//! A small body may decompress to a large one: the size of a response is limited decompressed.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Buf, Bytes};
use futures_util::FutureExt;
use reqwest::header::{self, HeaderMap, HeaderValue};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt, ReadBuf};

use crate::error::{Error, Kind, Result, excerpt};

/// Most bytes that are decompressed at once.
const CHUNK: usize = 64 << 10;
/// The largest window of zstd that RFC 9659 lets a service use, 8 MiB, as a power of two.
const ZSTD_WINDOW: u32 = 23;
/// Most characters of a header in an error message.
const SHOWN: usize = 40;
/// Values of `Content-Encoding` that change no byte. Some services name the charset there, and a charset compresses nothing.
const IGNORED: [&str; 4] = ["", "identity", "utf-8", "utf8"];
/// Compressions that a proxy may have chosen.
const COMPRESSIONS: [&str; 7] = ["br", "compress", "deflate", "gzip", "x-compress", "x-gzip", "zstd"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Zstd,
}

/// The encodings that the client accepts. With none, bodies are not compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accepted(Vec<Encoding>);

impl Encoding {
    /// Its name in both headers.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            // An old name of gzip that RFC 9110 keeps.
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl Accepted {
    /// The encodings in `Accept-Encoding` of `headers=`, else all that are supported.
    pub(super) fn of_settings(headers: &[(String, String)]) -> Result<Self> {
        let mut requested = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding")).peekable();
        if requested.peek().is_none() {
            return Ok(Self(vec![Encoding::Gzip, Encoding::Zstd]));
        }
        let mut accepted = Vec::new();
        for (_, value) in requested {
            for name in value.split(',').map(|name| name.trim().to_ascii_lowercase()) {
                match Encoding::from_name(&name) {
                    Some(encoding) => accepted.push(encoding),
                    None if name == "identity" => {}
                    None => {
                        let message = format!("headers may not set Accept-Encoding to {}", excerpt(value, SHOWN));
                        let error = Error::new(Kind::Config, message);
                        return Err(error.with_hint("name any of gzip, zstd and identity, without weights"));
                    }
                }
            }
        }
        Ok(Self(accepted))
    }

    /// Sent in any case: without the header a service may choose any encoding.
    pub(super) fn header(&self) -> HeaderValue {
        let names: Vec<&str> = self.0.iter().map(|encoding| encoding.name()).collect();
        let value = HeaderValue::from_str(&names.join(", ")).ok().filter(|value| !value.is_empty());
        value.unwrap_or(HeaderValue::from_static("identity"))
    }

    /// The encoding of a response. Fails if it was not requested, or if there are several.
    pub(super) fn encoding_of(&self, headers: &HeaderMap) -> Result<Option<Encoding>> {
        let values = headers.get_all(header::CONTENT_ENCODING).iter();
        let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        let value = values.join(",").to_ascii_lowercase();
        let mut layers = value.split(',').map(str::trim).filter(|layer| !IGNORED.contains(layer));
        let what = match (layers.next(), layers.next()) {
            (None, _) => return Ok(None),
            (Some(_), Some(_)) => "several values of Content-Encoding",
            (Some(layer), None) => match Encoding::from_name(layer).filter(|encoding| self.0.contains(encoding)) {
                None => "Content-Encoding was not requested",
                requested => return Ok(requested),
            },
        };
        let error = Error::new(Kind::MalformedHttp, format!("{what}: {}", excerpt(&value, SHOWN)));
        let is_compressed = value.split(',').any(|layer| COMPRESSIONS.contains(&layer.trim()));
        Err(if is_compressed { error.with_hint("a proxy may have recompressed the response") } else { error })
    }
}

/// Decompresses a sequence of gzip members or zstd frames that arrives in pieces.
#[derive(Debug)]
pub(super) struct Decompression {
    pub(super) encoding: Encoding,
    decoder: Decoder,
    chunk: Vec<u8>,
}

/// Decodes one gzip member or zstd frame.
#[derive(Debug)]
enum Decoder {
    Gzip(GzipDecoder<Arrived>),
    Zstd(ZstdDecoder<Arrived>),
}

/// Bytes of the body that are not read yet.
#[derive(Debug, Default)]
struct Arrived {
    bytes: Bytes,
    is_last: bool,
}

impl Decompression {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { encoding, decoder: Decoder::new(encoding, Arrived::default()), chunk: vec![0; CHUNK] }
    }

    /// The chunk of this size, or nothing at the end.
    pub(super) fn chunk(&self, size: usize) -> Option<&[u8]> {
        self.chunk.get(..size).filter(|chunk| !chunk.is_empty())
    }

    /// Takes more bytes of the body, or its end, after [`Decompression::read`] returned nothing.
    pub(super) fn feed(&mut self, bytes: Option<Bytes>) {
        let is_last = bytes.is_none();
        *self.decoder.arrived() = Arrived { bytes: bytes.unwrap_or_default(), is_last };
    }

    /// Decompresses the next chunk, and returns its size, or zero at the end. Returns nothing if that takes more bytes of
    /// the body.
    pub(super) fn read(&mut self) -> io::Result<Option<usize>> {
        loop {
            let read = match &mut self.decoder {
                Decoder::Gzip(decoder) => decoder.read(&mut self.chunk).now_or_never(),
                Decoder::Zstd(decoder) => decoder.read(&mut self.chunk).now_or_never(),
            };
            let read = read.transpose()?;
            if read != Some(0) {
                return Ok(read);
            }
            // The end of a member or frame.
            let arrived = self.decoder.arrived();
            if self.encoding == Encoding::Gzip {
                // Padding, which gzip(1) ignores.
                let zeros = arrived.bytes.iter().take_while(|byte| **byte == 0).count();
                arrived.bytes.advance(zeros);
            }
            if arrived.bytes.is_empty() {
                return Ok(arrived.is_last.then_some(0));
            }
            let rest = mem::take(arrived);
            self.decoder = Decoder::new(self.encoding, rest);
        }
    }
}

impl Decoder {
    fn new(encoding: Encoding, arrived: Arrived) -> Self {
        match encoding {
            Encoding::Gzip => Self::Gzip(GzipDecoder::new(arrived)),
            Encoding::Zstd => Self::Zstd(ZstdDecoder::with_params(arrived, &[DParameter::window_log_max(ZSTD_WINDOW)])),
        }
    }

    fn arrived(&mut self) -> &mut Arrived {
        match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

/// Pending until there are more bytes; nobody is woken then, as the decoder is asked again.
impl AsyncBufRead for Arrived {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if this.bytes.is_empty() && !this.is_last { Poll::Pending } else { Poll::Ready(Ok(&this.bytes)) }
    }

    fn consume(mut self: Pin<&mut Self>, read: usize) {
        self.bytes.advance(read);
    }
}

/// A part of the interface that no decoder uses.
impl AsyncRead for Arrived {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::Unsupported.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use zstd::stream::raw::CParameter;

    use super::*;

    const ENCODINGS: [Encoding; 2] = [Encoding::Gzip, Encoding::Zstd];
    /// A skippable frame of zstd.
    const SKIPPABLE: [u8; 11] = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0xfd, 0x2f, 0xb5];

    fn requested(values: &[&str]) -> Result<Accepted> {
        let headers: Vec<_> = values.iter().map(|value| ("accept-Encoding".to_owned(), (*value).to_owned())).collect();
        Accepted::of_settings(&headers)
    }

    fn encoding_of(accepted: &Accepted, values: &[&'static str]) -> Result<Option<Encoding>> {
        let values = values.iter().map(|value| (header::CONTENT_ENCODING, HeaderValue::from_static(value)));
        accepted.encoding_of(&values.collect())
    }

    #[test]
    fn headers_may_request_fewer_encodings_but_no_unknown_one() {
        let header = |values: &[&str]| requested(values).expect("known encodings").header();
        assert_eq!(header(&[]), "gzip, zstd");
        assert_eq!(header(&["identity"]), "identity");
        assert_eq!(header(&["ZSTD"]), "zstd");
        assert_eq!(header(&["zstd, identity,gzip"]), "zstd, gzip");
        assert_eq!(header(&["zstd", "gzip"]), "zstd, gzip");
        for unknown in ["br", "*", "", "gzip;q=0.5", "gzip, deflate"] {
            assert_eq!(requested(&[unknown]).expect_err(unknown).kind(), Kind::Config, "{unknown}");
        }
    }

    #[test]
    fn a_response_has_at_most_one_encoding_and_a_requested_one() {
        let all = requested(&[]).expect("the default");
        for (values, expected) in [
            (&[][..], None),
            (&["identity"], None),
            (&["", "identity,"], None),
            (&["gzip"], Some(Encoding::Gzip)),
            (&[" X-GZIP "], Some(Encoding::Gzip)),
            (&["identity, zstd"], Some(Encoding::Zstd)),
        ] {
            assert_eq!(encoding_of(&all, values).expect("requested"), expected, "{values:?}");
        }
        let zstd = requested(&["zstd"]).expect("known");
        let none = requested(&["identity"]).expect("known");
        for (accepted, values) in [
            (&all, &["br"][..]),
            (&all, &["gzip, gzip"]),
            (&all, &["gzip", "zstd"]),
            (&all, &["gzip, br"]),
            (&zstd, &["gzip"]),
            (&none, &["gzip"]),
        ] {
            let error = encoding_of(accepted, values).expect_err("not requested");
            assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, false), "{values:?}");
        }
    }

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

    /// Decompresses a body that arrives in parts of these sizes, in turn.
    fn decompress(encoding: Encoding, mut body: &[u8], parts: &[usize]) -> io::Result<Vec<u8>> {
        let (mut plain, mut parts) = (Vec::new(), parts.iter().cycle());
        let mut decompression = Decompression::new(encoding);
        loop {
            match decompression.read()? {
                None if body.is_empty() => decompression.feed(None),
                None => {
                    let (part, rest) = body.split_at(*parts.next().unwrap_or(&body.len()).min(&body.len()));
                    decompression.feed(Some(Bytes::copy_from_slice(part)));
                    body = rest;
                }
                Some(0) => return Ok(plain),
                Some(size) => plain.extend_from_slice(decompression.chunk(size).unwrap()),
            }
        }
    }

    fn failure(encoding: Encoding, body: &[u8], parts: &[usize]) -> ErrorKind {
        decompress(encoding, body, parts).unwrap_err().kind()
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
            prop_assert_eq!(decompress(encoding, &body, &sizes).unwrap(), plain);
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
            if let Ok(other) = decompress(encoding, &body, &[size]) {
                prop_assert_eq!(other, plain);
            }
        }

        #[test]
        fn random_bytes_are_an_error(encoding in encoding(), body in vec(any::<u8>(), 1..2_000)) {
            prop_assert!(decompress(encoding, &body, &[]).is_err());
        }
    }

    #[test]
    fn a_body_cut_at_any_byte_is_never_complete() {
        for encoding in ENCODINGS {
            let body = compress(encoding, &br#"{"code":200,"data":{"status":true,"data":[]}}"#.repeat(9), 6);
            let twice = [&body[..], &body].concat();
            for end in (0..twice.len()).filter(|end| *end != body.len()) {
                for size in [1, end.max(1)] {
                    assert_eq!(failure(encoding, &twice[..end], &[size]), ErrorKind::UnexpectedEof, "{end}");
                }
            }
            assert!(decompress(encoding, &twice, &[1]).is_ok());
        }
    }

    #[test]
    fn what_is_damaged_or_follows_the_end_is_not_cut_off() {
        for encoding in ENCODINGS {
            let body = compress(encoding, b"some text and some more text", 6);
            for place in [0, body.len() / 2, body.len() - 1] {
                let mut body = body.clone();
                body[place] ^= 1;
                assert_ne!(failure(encoding, &body, &[]), ErrorKind::UnexpectedEof, "{encoding:?} {place}");
            }
            for garbage in [&b"\n"[..], b"\0\0\0\n", b"{}", b"{\"code\":200}"] {
                let body = [&body[..], garbage].concat();
                for size in [1, body.len()] {
                    assert_ne!(failure(encoding, &body, &[size]), ErrorKind::UnexpectedEof, "{encoding:?} {garbage:?}");
                }
            }
        }
    }

    #[test]
    fn skippable_frames_may_occur_anywhere() {
        let frame = compress(Encoding::Zstd, b"text", 3);
        let body = [&SKIPPABLE[..], &frame, &SKIPPABLE, &SKIPPABLE, &frame, &SKIPPABLE].concat();
        for size in 1..body.len() {
            assert_eq!(decompress(Encoding::Zstd, &body, &[size]).unwrap(), b"texttext");
        }
        assert_eq!(failure(Encoding::Zstd, &body[..body.len() - 1], &[]), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_window_of_zstd_is_at_most_8_mib() {
        let with_window =
            |log| zstd_with(&[7; 100], 3, &[CParameter::WindowLog(log), CParameter::ContentSizeFlag(false)]);
        assert!(decompress(Encoding::Zstd, &with_window(23), &[]).is_ok());
        assert!(decompress(Encoding::Zstd, &with_window(24), &[]).is_err());
    }

    #[test]
    fn all_received_bytes_are_decompressed_before_more_are_needed() {
        let bit = |number: u32| (number.wrapping_mul(2_654_435_761) >> 31) as u8;
        let plain: Vec<u8> = (0..128 << 10).map(bit).collect();
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
            let mut decompression = Decompression::new(encoding);
            decompression.feed(Some(flushed.clone().into()));
            let mut got = Vec::new();
            while let Some(size) = decompression.read().unwrap() {
                got.extend_from_slice(decompression.chunk(size).unwrap());
            }
            assert!(got == plain, "{} of {} bytes of {encoding:?}", got.len(), plain.len());
        }
    }
}
