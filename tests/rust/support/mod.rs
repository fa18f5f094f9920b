//! A plain HTTP/1.1 client for tests of the sandbox: what was sent and received, byte for byte.
//!
//! It shares nothing with the package's own client.

#![allow(clippy::needless_pass_by_value, reason = "values are written where they are passed")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dataaccess::sandbox::{Cell, Sandbox};
use serde_json::{Value, json};

pub const SEARCH: &str = "/access/api/item/search";

/// A response with its body as it came, without the framing.
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// Whether the body had its end.
    pub is_whole: bool,
}

impl Reply {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The records of a search.
    pub fn records(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()["data"]["data"].as_array().unwrap().clone()
    }
}

/// The control routes of a sandbox.
pub trait Controlled {
    /// Calls a route below `/__sandbox`: the status, and the body as JSON.
    fn control(&self, method: &str, route: &str, body: &str) -> (u16, Value);

    /// The answer of a call that succeeds.
    fn done(&self, method: &str, route: &str, body: &Value) -> Value {
        let (status, answer) = self.control(method, route, &body.to_string());
        assert!(status < 300, "{status} {answer}");
        answer
    }

    fn issue_token(&self, scopes: &[&str], expires_in: Option<u64>) -> String {
        let body = json!({"scopes": scopes, "expires_in": expires_in});
        self.done("POST", "/tokens", &body)["token"].as_str().unwrap().to_owned()
    }

    fn revoke(&self, token: &str) -> bool {
        self.done("POST", "/tokens/revoke", &json!({"token": token}))["revoked"] == true
    }

    /// Loads customers: the number of rows, or the message of the refusal.
    fn load(&self, customers: impl IntoIterator<Item = Vec<Cell>>) -> Result<u64, String> {
        let lines = customers.into_iter().map(|row| line(&row)).collect::<Vec<_>>().join("\n");
        let (status, answer) = self.control("POST", "/objects/customer/rows", &lines);
        if status < 300 {
            return Ok(answer["rows"].as_u64().unwrap());
        }
        Err(answer["error"]["message"].as_str().unwrap_or_default().to_owned())
    }

    fn begin(&self, form: &Value) -> Begun<'_>;
}

impl Controlled for Sandbox {
    fn control(&self, method: &str, route: &str, body: &str) -> (u16, Value) {
        let host = self.base_url().strip_prefix("http://").unwrap();
        let Ok(mut stream) = TcpStream::connect(host) else { return (0, Value::Null) };
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (token, kind) = (self.admin_token(), if route.ends_with("/rows") { "x-ndjson" } else { "json" });
        let head = format!(
            "{method} /__sandbox{route} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/{kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut response = String::new();
        let exchanged = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .and_then(|()| stream.read_to_string(&mut response));
        let Some((head, body)) = exchanged.ok().and_then(|_| response.split_once("\r\n\r\n")) else {
            return (0, Value::Null);
        };
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    fn begin(&self, form: &Value) -> Begun<'_> {
        let id = self.done("POST", "/faults", form)["id"].as_u64().unwrap();
        Begun { sandbox: self, id }
    }
}

/// A customer as a line of JSON.
fn line(row: &[Cell]) -> String {
    let name = row.get(1).map(|name| format!(",\"name\":{name}")).unwrap_or_default();
    format!("{{\"customer_id\":{}{name}}}", row[0])
}

/// A fault, which ends when this is dropped.
pub struct Begun<'a> {
    sandbox: &'a Sandbox,
    id: u64,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.sandbox.control("DELETE", &format!("/faults/{}", self.id), "");
    }
}

/// A request with a token of every scope, sent, whose response is not read yet.
pub fn send(sandbox: &Sandbox, path: &str, headers: &str, body: &str) -> TcpStream {
    let token = sandbox.issue_token(&["item", "download"], None);
    let host = sandbox.base_url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

/// The rest of a response, all of it.
pub fn receive(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &bytes[end + 4..];
    let (body, is_whole) = if head.to_lowercase().contains("transfer-encoding: chunked") {
        unchunked(rest)
    } else {
        (rest.to_vec(), true)
    };
    Reply { status, body, is_whole }
}

fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        rest = &rest[end + 2..];
        body.extend_from_slice(&rest[..size.min(rest.len())]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

pub fn post(sandbox: &Sandbox, path: &str, body: &Value) -> Reply {
    receive(send(sandbox, path, "", &body.to_string()))
}

pub fn search(sandbox: &Sandbox, body: &Value) -> Reply {
    post(sandbox, SEARCH, body)
}

/// A search of promotion codes with these conditions.
pub fn codes(attrs: &[&str], and: Value) -> Value {
    json!({"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": attrs, "filters": {"OR": [{"AND": and}]}})
}

/// The required condition of a promotion code search.
pub fn allocated(operator: &str, time: &str) -> Value {
    json!({"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": operator,
           "value": milliseconds(time), "time_unit": "DAY"})
}

/// A search of another object with these groups.
pub fn items(id: i64, name: &str, attrs: &[&str], or: Value) -> Value {
    json!({"itemTypeId": id, "itemTypeName": name, "attrs": attrs, "filters": {"OR": or}})
}

/// A condition of a generic search.
pub fn condition(column: &str, data_type: &str, operator: &str, value: Value) -> Value {
    json!({"column": column, "data_type": data_type, "operator": operator, "value_type": "normal", "value": value,
           "condition_type": "comp_attr"})
}

/// Unix milliseconds of a time written as `2024-01-31T10:00:00Z`.
pub fn milliseconds(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}
