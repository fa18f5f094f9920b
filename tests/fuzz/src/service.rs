//! A sandbox with a clock that stands still, and one connection to it.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

use dataaccess::sandbox::{BusinessObject, Cell, Clock, Options, Sandbox};
use serde_json::{Map, Value, json};

/// Path of the search.
pub const SEARCH: &str = "/access/api/item/search";

/// A sandbox and the connection to it.
pub struct Service {
    sandbox: Sandbox,
    connection: RefCell<Option<BufReader<TcpStream>>>,
    token: String,
}

impl Default for Service {
    fn default() -> Self {
        // 2024-01-15 12:00 UTC.
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_705_320_000);
        let sandbox = Sandbox::start(Options { clock: Clock::new(move || start), ..Options::default() });
        let sandbox = sandbox.expect("a sandbox");
        let mut service = Self { sandbox, connection: RefCell::default(), token: String::new() };
        let issued = service.done("/__sandbox/tokens", &json!({}));
        service.token = issued["token"].as_str().expect("a token").to_owned();
        service
    }
}

impl Service {
    /// Declares an object and loads rows.
    pub fn fill(&self, object: &BusinessObject, rows: Vec<Vec<Cell>>) {
        let kinds = object.attributes.iter().map(|each| (each.name.clone(), each.kind.data_type().into()));
        let attributes: Map<String, Value> = kinds.collect();
        let declared = json!({"name": object.name, "item_type_id": object.id, "attributes": attributes});
        self.done("/__sandbox/objects", &declared);
        let named = |row: Vec<Cell>| attributes.keys().cloned().zip(row).collect::<Map<String, Value>>();
        let rows: Vec<_> = rows.into_iter().map(named).collect();
        self.done(&format!("/__sandbox/objects/{}/rows", object.name), &json!(rows));
    }

    fn done(&self, target: &str, body: &Value) -> Value {
        let (status, answer) = self.control("POST", target, body.to_string().as_bytes()).expect("a response");
        assert!(status < 300, "{}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// The response to a body of an operation.
    pub fn post(&self, path: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        self.send("POST", path, &self.token, body)
    }

    /// The response to a call of a control route.
    pub fn control(&self, method: &str, target: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        self.send(method, target, self.sandbox.admin_token(), body)
    }

    /// None if the connection was closed, as an idle one is: the next call makes another.
    fn send(&self, method: &str, target: &str, token: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let mut kept = self.connection.borrow_mut();
        let reused = kept.is_some();
        let host = self.sandbox.base_url().strip_prefix("http://")?;
        let connection = match kept.take() {
            Some(connection) => connection,
            None => BufReader::new(TcpStream::connect(host).ok()?),
        };
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        match exchange(connection, &[head.as_bytes(), body].concat()) {
            Some((connection, answered)) => {
                *kept = Some(connection);
                Some(answered)
            }
            None if reused => {
                drop(kept);
                self.send(method, target, token, body)
            }
            None => None,
        }
    }
}

/// Sends a request and reads its response, which has a length.
fn exchange(mut connection: BufReader<TcpStream>, request: &[u8]) -> Option<(BufReader<TcpStream>, (u16, Vec<u8>))> {
    connection.get_mut().write_all(request).ok()?;
    let (mut status, mut length) = (None, None);
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).ok()?;
        match line.trim_end().to_ascii_lowercase().split_once(' ')? {
            ("content-length:", value) => length = value.parse().ok(),
            ("http/1.1", value) => status = value.get(..3)?.parse().ok(),
            _ => {}
        }
        if connection.fill_buf().ok()?.starts_with(b"\r\n") {
            connection.consume(2);
            break;
        }
    }
    let mut body = vec![0; length?];
    connection.read_exact(&mut body).ok()?;
    Some((connection, (status?, body)))
}
