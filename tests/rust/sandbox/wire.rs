//! A client as plain as can be: one request a connection, read to its end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dataaccess::sandbox::demo::Demo;
use dataaccess::sandbox::{Options, Sandbox};
use serde_json::{Value, json};

use crate::support::Controlled as _;
pub use crate::support::{Reply, SEARCH};

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
        let reply = Reply::parse(&response);
        assert!(reply.is_whole, "{reply:?}");
        reply
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
        self.post(SEARCH, body).records()
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
