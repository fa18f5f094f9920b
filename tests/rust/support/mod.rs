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

/// A response with its body as far as it came, without the framing.
#[derive(Debug, PartialEq)]
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

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// The records of a search.
    pub fn records(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()["data"]["data"].as_array().expect("an array").clone()
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
    Reply::parse(&bytes)
}

/// The chunks of a body, and whether the last one is there.
pub fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
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
