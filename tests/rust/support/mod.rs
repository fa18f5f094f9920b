//! A plain HTTP/1.1 client for tests of the sandbox: what was sent and received, byte for byte.
//!
//! It shares nothing with the package's own client.

#![allow(clippy::needless_pass_by_value, reason = "values are written where they are passed")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dataaccess::sandbox::Sandbox;
use serde_json::{Value, json};

pub const SEARCH: &str = "/access/api/item/search";
pub const DOWNLOAD: &str = "/access/api/segment/download";

/// A response with its body as it came, without the framing.
pub struct Reply {
    pub status: u16,
    pub head: String,
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

    /// The envelope's message.
    pub fn message(&self) -> String {
        self.json()["message"].as_str().unwrap().to_owned()
    }

    /// The records of a search.
    pub fn records(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()["data"]["data"].as_array().unwrap().clone()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A request with a token of every scope, sent, whose response is not read yet.
pub fn send(sandbox: &Sandbox, path: &str, headers: &str, body: &str) -> TcpStream {
    let token = sandbox.issue_token(&["item".to_owned(), "download".to_owned()], None).unwrap();
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
    Reply { status, head, body, is_whole }
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

/// A condition of a promotion code search on strings or numbers.
pub fn code_condition(column: &str, data_type: &str, value: Value) -> Value {
    json!({"type": 2, "column": column, "data_type": data_type, "operator": "matches", "value": value, "extendValue": []})
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
