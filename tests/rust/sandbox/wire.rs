//! A client as plain as can be: one request a connection, read to its end, byte for byte.
//!
//! It shares nothing with the package's own client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dataaccess::sandbox::demo::Demo;
use dataaccess::sandbox::{Options, Sandbox};
use serde_json::{Value, json};

pub const SEARCH: &str = "/access/api/item/search";
pub const DOWNLOAD: &str = "/access/api/segment/download";

/// A response with its body as far as it came, without the framing.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// Whether the body had its end.
    pub is_whole: bool,
}

impl Reply {
    /// Reads one response.
    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let head = str::from_utf8(&bytes[..end]).expect("text").to_owned();
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        let rest = &bytes[end + 4..];
        let mut reply = Self { status, head, body: String::new(), is_whole: false };
        let (body, is_whole) = if reply.header("transfer-encoding") == Some("chunked") {
            unchunked(rest)
        } else {
            (rest.to_vec(), reply.header("content-length") == Some(rest.len().to_string().as_str()))
        };
        reply.body = String::from_utf8_lossy(&body).into_owned();
        Self { is_whole, ..reply }
    }

    /// The response on a connection that is closed after it.
    pub fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a response up to its end");
        Self::parse(&bytes)
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

/// The chunks of a body, and whether the last one is there.
pub fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        rest = &rest[end + 2..];
        body.extend_from_slice(&rest[..size.min(rest.len())]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

/// Demo data of January and February 2024.
pub fn demo() -> Options {
    Options { demo: Some(Demo::until("2024-02-29").expect("a day")), ..Options::default() }
}

/// A sandbox with a token for both operations.
pub struct Service {
    pub sandbox: Sandbox,
    pub token: String,
}

impl Service {
    pub fn start(options: Options) -> Self {
        let sandbox = Sandbox::start(options).expect("the sandbox starts");
        let service = Self { sandbox, token: String::new() };
        Self { token: service.issue_token(&["item", "download"], None), ..service }
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

    /// Sends a request with these header lines and no others but length and close.
    pub fn send(&self, line: &str, headers: &[&str], body: &str) -> TcpStream {
        let first = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}", body.len());
        let head = [&[first.as_str()], headers].concat().join("\r\n");
        let mut stream = self.connect();
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).expect("sent");
        stream
    }

    pub fn request(&self, line: &str, headers: &[&str], body: &str) -> Reply {
        let reply = Reply::read(self.send(line, headers, body));
        assert!(reply.is_whole, "{reply:?}");
        reply
    }

    pub fn post_as(&self, authorization: &str, path: &str, body: &str) -> Reply {
        let host = format!("Host: {}", self.address());
        self.request(&format!("POST {path}"), &[&host, "Content-Type: application/json", authorization], body)
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_as(&format!("Authorization: Bearer {}", self.token), path, &body.to_string())
    }

    /// Sends a search whose response is not read yet.
    pub fn search(&self, body: &Value) -> TcpStream {
        let (host, token) = (format!("Host: {}", self.address()), format!("Authorization: Bearer {}", self.token));
        let headers = [&host, "Content-Type: application/json", &token];
        self.send(&format!("POST {SEARCH}"), &headers, &body.to_string())
    }

    /// The records of a search that succeeds.
    pub fn records(&self, body: &Value) -> Vec<Value> {
        let reply = self.post(SEARCH, body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["data"]["data"].as_array().expect("an array").clone()
    }

    /// What a control route answers, if it succeeds.
    pub fn control(&self, line: &str, body: &str) -> Value {
        let kind = if line.ends_with("/rows") { "x-ndjson" } else { "json" };
        let token = format!("Authorization: Bearer {}", self.sandbox.admin_token());
        let headers = [&format!("Host: {}", self.address()), &token, &format!("Content-Type: application/{kind}")];
        let reply = self.request(&line.replacen(' ', " /__sandbox", 1), &headers.map(String::as_str), body);
        assert!(reply.status < 300, "{reply:?}");
        reply.json()
    }

    pub fn issue_token(&self, scopes: &[&str], expires_in: Option<u64>) -> String {
        let body = json!({"scopes": scopes, "expires_in": expires_in}).to_string();
        self.control("POST /tokens", &body)["token"].as_str().unwrap().to_owned()
    }

    /// Loads customers, each with this name.
    pub fn load(&self, ids: impl IntoIterator<Item = String>, name: &str) {
        let line = |id| json!({"customer_id": id, "name": name}).to_string();
        self.control("POST /objects/customer/rows", &ids.into_iter().map(line).collect::<Vec<_>>().join("\n"));
    }

    /// Begins a fault, which ends when the answer is dropped.
    pub fn begin(&self, form: &Value) -> Begun<'_> {
        let id = self.control("POST /faults", &form.to_string())["id"].clone();
        Begun(self, format!("DELETE /faults/{id}"))
    }
}

pub struct Begun<'a>(&'a Service, String);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.control(&self.1, "");
    }
}

pub fn export() -> Value {
    json!({"scope": "download", "exportId": 5_637_051})
}

/// `allocated_time` as the specification writes it.
pub fn allocated_time(operator: &str, time: &str) -> Value {
    let milliseconds = time.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
    json!({"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": operator,
           "value": milliseconds, "time_unit": "DAY"})
}

pub fn codes(attrs: &Value, conditions: &[Value]) -> Value {
    json!({"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": attrs,
           "filters": {"OR": [{"AND": conditions}]}})
}

/// A search of customers: of the one with this id, or of all.
pub fn customers(attrs: &[&str], id: Option<&str>) -> Value {
    let condition = |id| {
        json!({"column": "customer_id", "data_type": "string", "operator": "matches", "value_type": "normal",
               "value": [id], "condition_type": "comp_attr"})
    };
    let conditions = Vec::from_iter(id.map(condition));
    json!({"itemTypeId": -1003, "itemTypeName": "customer", "attrs": attrs, "filters": {"OR": [{"AND": conditions}]}})
}
