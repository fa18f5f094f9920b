//! Negotiates the compression: the headers `Accept-Encoding` and `Content-Encoding`.

use reqwest::header::{self, HeaderMap, HeaderValue};

use crate::error::{Error, Kind, Result, excerpt};

/// Most characters of a header in an error message.
const SHOWN: usize = 40;

/// Values of `Content-Encoding` that change no byte. Some services name the charset there, which is that of JSON.
const IGNORED: [&str; 4] = ["", "identity", "utf-8", "utf8"];
/// Those that a proxy may have chosen.
const COMPRESSIONS: [&str; 7] = ["br", "compress", "deflate", "gzip", "x-compress", "x-gzip", "zstd"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// RFC 1952.
    Gzip,
    /// RFC 8878, within the window of RFC 9659.
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

    pub(super) fn from_name(name: &str) -> Option<Self> {
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
                    None => return Err(unknown(value)),
                }
            }
        }
        Ok(Self(accepted))
    }

    pub(super) fn header(&self) -> HeaderValue {
        let names: Vec<&str> = self.0.iter().map(|encoding| encoding.name()).collect();
        // Sent in any case: without the header a service may choose any encoding.
        HeaderValue::from_str(&names.join(", "))
            .ok()
            .filter(|value| !value.is_empty())
            .unwrap_or(HeaderValue::from_static("identity"))
    }

    /// The encoding of a response. Fails if it was not requested, or if there are several.
    pub(super) fn encoding_of(&self, headers: &HeaderMap) -> Result<Option<Encoding>> {
        let values: Vec<String> = headers
            .get_all(header::CONTENT_ENCODING)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
            .collect();
        let value = values.join(",");
        let mut layers = value.split(',').map(str::trim).filter(|layer| !IGNORED.contains(layer));
        let refused = |what: &str| {
            let error = Error::new(Kind::MalformedHttp, format!("{what}: {}", excerpt(&value, SHOWN)));
            let is_compressed = value.split(',').any(|layer| COMPRESSIONS.contains(&layer.trim()));
            if is_compressed { error.with_hint("a proxy may have recompressed the response") } else { error }
        };
        match (layers.next(), layers.next()) {
            (None, _) => Ok(None),
            (Some(_), Some(_)) => Err(refused("several values of Content-Encoding")),
            (Some(layer), None) => Encoding::from_name(layer)
                .filter(|encoding| self.0.contains(encoding))
                .map(Some)
                .ok_or_else(|| refused("Content-Encoding was not requested")),
        }
    }
}

fn unknown(value: &str) -> Error {
    let value = excerpt(value, SHOWN);
    Error::new(Kind::Config, format!("headers may not set Accept-Encoding to {value}"))
        .with_hint("name any of gzip, zstd and identity, without weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(values: &[&str]) -> Result<Accepted> {
        let headers: Vec<_> = values.iter().map(|value| ("accept-Encoding".to_owned(), (*value).to_owned())).collect();
        Accepted::of_settings(&headers)
    }

    fn encoding(accepted: &Accepted, values: &[&'static str]) -> Result<Option<Encoding>> {
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
            assert_eq!(encoding(&all, values).expect("requested"), expected, "{values:?}");
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
            let error = encoding(accepted, values).expect_err("not requested");
            assert_eq!((error.kind(), error.is_retryable()), (Kind::MalformedHttp, false), "{values:?}");
        }
    }
}
