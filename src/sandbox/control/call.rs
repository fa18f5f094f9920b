//! A call: method, path, query and body, and how routes read them.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::answer::Failure;
use crate::error::excerpt;

/// A call of a route.
#[derive(Debug)]
pub(in crate::sandbox) struct Call {
    method: String,
    path: String,
    query: String,
    parameter: String,
    body: Bytes,
    /// Cancelled when nobody waits for the answer any more, which ends a load.
    ended: CancellationToken,
}

impl Call {
    /// A call of a route by its path behind the prefix, with the query if there is one.
    pub(super) fn new(method: &str, target: &str, body: Bytes, ended: CancellationToken) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        Self { method, path, query, parameter: String::new(), body, ended }
    }

    /// The same call again.
    pub(super) fn again(&self, ended: CancellationToken) -> Self {
        let (method, path, query) = (self.method.clone(), self.path.clone(), self.query.clone());
        Self { method, path, query, parameter: String::new(), body: self.body.clone(), ended }
    }

    /// A guard that ends the call when it is dropped: rows that are not committed yet are not loaded.
    pub(super) fn cancel_on_drop(&self) -> DropGuard {
        self.ended.clone().drop_guard()
    }

    pub(super) fn method(&self) -> &str {
        &self.method
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The parameter of the route, decoded.
    pub(super) fn parameter(&self) -> &str {
        &self.parameter
    }

    pub(super) fn set_parameter(&mut self, parameter: String) {
        self.parameter = parameter;
    }

    /// The parameter of the route as a number.
    pub(super) fn id<T: std::str::FromStr>(&self, what: &str) -> Result<T, Failure> {
        let missing = || Failure::not_found(format!("there is no {what} `{}`", excerpt(&self.parameter, 60)));
        self.parameter.parse().map_err(|_| missing())
    }

    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as JSON of this type; without a body it is `{}`.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let body = if self.body.is_empty() { b"{}" } else { &self.body[..] };
        // An array would be read as the members in their order.
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(Failure::malformed("body: must be a JSON object"));
        }
        serde_json::from_slice(body).map_err(|cause| Failure::malformed(format!("body: {cause}")))
    }

    /// The query as this type, whose members are strings, numbers and bools.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let mut members = Map::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let unreadable = || Failure::malformed(format!("query: `{}` is not valid UTF-8", excerpt(pair, 60)));
            let name = decoded(name, true).ok_or_else(unreadable)?;
            let value = decoded(value, true).ok_or_else(unreadable)?;
            let value = match value.as_str() {
                _ if name == "contains" => value.into(),
                "true" => true.into(),
                "false" => false.into(),
                number => number.parse::<u64>().map_or_else(|_| Value::from(number), Value::from),
            };
            if members.insert(name, value).is_some() {
                return Err(Failure::malformed(format!("query: `{}` occurs twice", excerpt(pair, 60))));
            }
        }
        serde_json::from_value(members.into()).map_err(|cause| Failure::malformed(format!("query: {cause}")))
    }
}

/// A percent-encoded text; none if it is not UTF-8. In a query `+` is a space.
pub(super) fn decoded(text: &str, is_query: bool) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
                u8::try_from(high? * 16 + low?).ok()?
            }
            b'+' if is_query => b' ',
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn a_segment_is_decoded_once_and_must_be_utf_8() {
        assert_eq!(decoded("a%2Fb%25c+d%C3%A9", false).as_deref(), Some("a/b%c+dé"));
        assert_eq!(decoded("a+b", true).as_deref(), Some("a b"));
        for broken in ["%", "%4", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(broken, false), None, "{broken}");
        }
    }

    #[test]
    fn a_query_names_each_parameter_once_and_no_other() {
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[derive(Default)]
        struct Window {
            limit: u64,
            contains: String,
        }
        let read = |query: &str| {
            Call::new("GET", &format!("/rows?{query}"), Bytes::new(), CancellationToken::new()).query::<Window>()
        };
        assert_eq!(read("limit=5&contains=%31").unwrap(), Window { limit: 5, contains: "1".to_owned() });
        assert_eq!(read("").unwrap(), Window::default());
        for refused in ["limit=-1", "limit=x", "limit=1&limit=2", "limti=1", "contains=%ff"] {
            assert_eq!(read(refused).unwrap_err().status(), 400, "{refused}");
        }
    }
}
