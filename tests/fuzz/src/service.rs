//! The sandbox in memory, with a clock that stands still.

use std::time::{Duration, SystemTime};

use dataaccess::sandbox::{BusinessObject, Cell, Clock, InMemory, Options};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

/// Path of the search.
pub const SEARCH: &str = dataaccess::contract::SEARCH_PATH;

/// A sandbox and what runs it.
pub struct Service {
    sandbox: InMemory,
    runtime: Runtime,
    token: String,
    admin: String,
}

impl Default for Service {
    fn default() -> Self {
        // 2024-01-15 12:00 UTC.
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_705_320_000);
        let options = Options { clock: Clock::new(move || start), ..Options::default() };
        let sandbox = InMemory::start(options).expect("a sandbox");
        let admin = format!("Bearer {}", sandbox.admin_token());
        // Where all wait, time passes at once.
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let mut service = Self { sandbox, runtime, token: String::new(), admin };
        let issued = service.done("/__sandbox/tokens", &json!({}));
        service.token = format!("Bearer {}", issued["token"].as_str().expect("a token"));
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
        self.send(method, target, &self.admin, body)
    }

    fn send(&self, method: &str, target: &str, authorization: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let headers = [("content-type", "application/json"), ("authorization", authorization)];
        self.runtime.block_on(self.sandbox.respond(method, target, &headers, body))
    }
}
