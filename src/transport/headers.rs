//! The headers of a response that help to find its request in the logs of a service. They are shown without secrets.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderMap;

use crate::error::{excerpt, redact};
use crate::secret::Secret;

/// Most characters of a value that are kept: secrets are looked for before it is shortened.
const KEPT: usize = 4 << 10;
/// Most characters of a value that are shown.
const SHOWN: usize = 256;
/// Most headers, of which several may have the same name.
const MOST: usize = 32;
/// Enough for the headers of most responses.
const CAPACITY: usize = 256;

/// Whether a header is kept. Others may hold secrets, as `Set-Cookie` does.
fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "age"
            | "cf-ray"
            | "content-length"
            | "content-type"
            | "date"
            | "request-id"
            | "retry-after"
            | "retry-after-ms"
            | "server"
            | "traceparent"
            | "via"
            | "x-amz-cf-id"
            | "x-amzn-requestid"
            | "x-amzn-trace-id"
            | "x-azure-ref"
            | "x-cache"
            | "x-correlation-id"
            | "x-request-id"
            | "x-should-retry"
    )
}

/// The kept headers of a response. Clones share them.
#[derive(Clone, PartialEq, Eq)]
pub struct Headers(Arc<Kept>);

#[derive(PartialEq, Eq)]
struct Kept {
    /// `name:value` for each, as it arrived.
    lines: String,
    /// What the service may have repeated.
    token: Secret,
    secrets: Arc<[String]>,
}

impl Headers {
    /// Copies them: the memory in which they arrived is the buffer of the connection.
    pub(super) fn new(headers: &HeaderMap, token: &Secret, secrets: &Arc<[String]>) -> Self {
        let mut lines = String::with_capacity(CAPACITY);
        for (name, value) in headers.iter().filter(|(name, _)| is_kept(name.as_str())).take(MOST) {
            lines.push_str(name.as_str());
            lines.push(':');
            match str::from_utf8(value.as_bytes()) {
                Ok(text) if text.len() <= KEPT => lines.push_str(text),
                _ => lines.push_str(&excerpt(&String::from_utf8_lossy(value.as_bytes()), KEPT)),
            }
            lines.push('\n');
        }
        Self(Arc::new(Kept { lines, token: token.clone(), secrets: Arc::clone(secrets) }))
    }

    /// The values by the name of their header, without secrets.
    pub fn shown(&self) -> BTreeMap<String, String> {
        let Kept { lines, token, secrets } = &*self.0;
        let mut shown = BTreeMap::<_, String>::new();
        for (name, value) in lines.lines().filter_map(|line| line.split_once(':')) {
            let value = redact(value, token.expose());
            let value = secrets.iter().fold(value, |value, secret| redact(&value, secret));
            let values = shown.entry(name.to_owned()).or_default();
            let joined = if values.is_empty() { value } else { format!("{values}, {value}") };
            *values = excerpt(&joined, SHOWN);
        }
        shown
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn shown(headers: &[(&'static str, &[u8])]) -> BTreeMap<String, String> {
        let pair = |(name, value): &(&'static str, &[u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).expect("a value"))
        };
        let mut map = HeaderMap::new();
        headers.iter().map(pair).for_each(|(name, value)| _ = map.append(name, value));
        let token = Secret::try_new("tok-0123456789".to_owned()).expect("a token");
        let headers = Headers::new(&map, &token, &["key-0123456789".to_owned()].into());
        assert_eq!(format!("{headers:?}"), format!("{:?}", headers.shown()));
        headers.shown()
    }

    #[test]
    fn other_headers_are_not_kept() {
        let kept = shown(&[("x-request-id", b"a:b"), ("set-cookie", b"sid=1"), ("www-authenticate", b"Bearer")]);
        assert_eq!(kept, [("x-request-id".to_owned(), "a:b".to_owned())].into());
    }

    #[test]
    fn several_of_a_name_are_joined() {
        assert_eq!(shown(&[("via", b"1.1 a"), ("age", b"7"), ("via", b"1.1 b")])["via"], "1.1 a, 1.1 b");
        let many = [("via", &[b'v'; 200][..]); 99];
        assert_eq!(shown(&many)["via"].chars().count(), SHOWN + 1);
    }

    #[test]
    fn a_secret_is_not_shown_even_if_the_value_is_cut_off_within_it() {
        for (at, secret) in (200..300).flat_map(|at| [(at, "tok-0123456789"), (at, "key-0123456789")]) {
            let value = format!("{}{secret}{}", "-".repeat(at), "=".repeat(at));
            let shown = &shown(&[("x-request-id", value.as_bytes())])["x-request-id"];
            assert!(!shown.contains(&secret[..3]), "{shown}");
        }
    }

    #[test]
    fn any_value_is_one_short_line() {
        let kept =
            shown(&[("server", &vec![b'\xe4'; 100_000]), ("x-cache", "Größe\t\u{2028}".as_bytes()), ("age", b"")]);
        assert_eq!(kept["server"], "\u{fffd}".repeat(SHOWN) + "…");
        assert_eq!((kept["x-cache"].as_str(), kept["age"].as_str()), ("Größe\\t\\u{2028}", ""));
    }
}
