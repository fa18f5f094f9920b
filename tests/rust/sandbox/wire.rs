//! A client as plain as can be: one request a connection, read to its end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dataaccess::sandbox::demo::Demo;
use dataaccess::sandbox::{Options, Sandbox};
use serde_json::{Value, json};

use crate::support::Controlled as _;

pub const SEARCH: &str = "/access/api/item/search";
pub const DOWNLOAD: &str = "/access/api/segment/download";

/// Demo data of January and February 2024.
pub fn demo() -> Options {
    Options { demo: Some(Demo::until("2024-02-29").expect("a day")), ..Options::default() }
}

/// A sandbox with a token for both operations.
pub struct Service {
    pub sandbox: Sandbox,
    pub token: String,
}

#[derive(Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Service {
    pub fn start(options: Options) -> Self {
        let sandbox = Sandbox::start(options).expect("the sandbox starts");
        let token = sandbox.issue_token(&["item", "download"], None);
        Self { sandbox, token }
    }

    pub fn demo() -> Self {
        Self::start(demo())
    }

    pub fn address(&self) -> &str {
        self.sandbox.base_url().strip_prefix("http://").expect("plain http")
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("a connection");
        // So that nothing hangs; a busy machine needs its time.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and reads until the service closes the connection.
    pub fn exchange(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("sent");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("a response");
        Reply::parse(&response)
    }

    /// A request with these header lines and no others but length and close.
    pub fn request(&self, line: &str, headers: &[&str], body: &str) -> Reply {
        let length = format!("Content-Length: {}", body.len());
        let first = [format!("{line} HTTP/1.1"), "Connection: close".to_owned(), length].join("\r\n");
        let head = [&[first.as_str()], headers].concat().join("\r\n");
        self.exchange(format!("{head}\r\n\r\n{body}").as_bytes())
    }

    pub fn post_as(&self, authorization: &str, path: &str, body: &str) -> Reply {
        let host = format!("Host: {}", self.address());
        self.request(&format!("POST {path}"), &[&host, "Content-Type: application/json", authorization], body)
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_as(&format!("Authorization: Bearer {}", self.token), path, &body.to_string())
    }

    /// The records of a search that succeeds.
    pub fn records(&self, body: &Value) -> Vec<Value> {
        let reply = self.post(SEARCH, body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["data"]["data"].as_array().expect("an array").clone()
    }
}

impl Reply {
    /// Reads one response.
    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let head = str::from_utf8(&bytes[..end]).expect("text").to_owned();
        let (status, body) = (head.split(' ').nth(1).expect("a status").parse().expect("a number"), &bytes[end + 4..]);
        let mut reply = Self { status, head, body: String::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = joined(body);
        } else {
            assert_eq!(reply.header("content-length"), Some(body.len().to_string().as_str()), "a whole body");
            str::from_utf8(body).expect("text").clone_into(&mut reply.body);
        }
        reply
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// The whole response without its `Date`.
    pub fn undated(&self) -> (String, &str) {
        let lines = self.head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("date: "));
        (lines.collect::<Vec<_>>().join("\r\n"), &self.body)
    }

    /// Asserts a refusal whose envelope says the same as the status and names the problem.
    #[track_caller]
    pub fn refuses(&self, status: u16, part: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        let envelope = self.json();
        let message = envelope["message"].as_str().expect("a message").to_owned();
        assert_eq!(envelope, json!({"code": status, "message": message, "data": message}));
        assert!(message.contains(part), "`{message}` does not say `{part}`");
        assert_eq!(self.header("server"), Some("dataaccess-sandbox"));
        assert_eq!(self.header("content-type"), Some("application/json"));
    }
}

/// Milliseconds of a time in UTC.
pub fn millis(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().expect("a time").as_millisecond()
}

/// `allocated_time` as the specification writes it.
pub fn allocated_time(operator: &str, time: &str) -> Value {
    json!({"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": operator,
           "value": millis(time), "time_unit": "DAY"})
}

pub fn codes(attrs: &Value, conditions: &[Value]) -> Value {
    json!({"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": attrs,
           "filters": {"OR": [{"AND": conditions}]}})
}

/// A generic condition (section 4.1).
pub fn condition(column: &str, data_type: &str, operator: &str, value: &Value) -> Value {
    json!({"column": column, "data_type": data_type, "operator": operator, "value_type": "normal",
           "value": value, "condition_type": "comp_attr"})
}

pub fn customers(groups: &[Vec<Value>]) -> Value {
    items(-1003, "customer", &json!(["customer_id"]), groups)
}

pub fn items(id: i64, name: &str, attrs: &Value, groups: &[Vec<Value>]) -> Value {
    let groups: Vec<Value> = groups.iter().map(|conditions| json!({"AND": conditions})).collect();
    json!({"itemTypeId": id, "itemTypeName": name, "attrs": attrs, "filters": {"OR": groups}})
}

/// The chunks of a body, whose last one must be there.
fn joined(mut chunks: &[u8]) -> String {
    let mut body = Vec::new();
    loop {
        let line = chunks.windows(2).position(|pair| pair == b"\r\n").expect("a chunk's size");
        let size = usize::from_str_radix(str::from_utf8(&chunks[..line]).expect("text"), 16).expect("a size");
        let start = line + 2;
        body.extend_from_slice(&chunks[start..start + size]);
        chunks = &chunks[start + size + 2..];
        if size == 0 {
            return String::from_utf8(body).expect("text");
        }
    }
}
