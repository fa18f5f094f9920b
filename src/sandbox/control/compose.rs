//! The request of a search that was put together on the page. The client checks it: the sandbox shares no code with the
//! client, so the function is given at the start.

use std::fmt;
use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Map, Value};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::error::Kind;
use crate::sandbox::service::Service;
use crate::sandbox::switches::DayComparison;

/// Checks a search and writes it in several languages: JSON to JSON, with `error` if the search is invalid. None where
/// that cannot be done now.
#[derive(Clone)]
pub struct Composer(Arc<Compose>);

type Compose = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Composer {
    /// A composer that calls this function, on a thread that may block.
    pub fn new(compose: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(compose))
    }
}

impl fmt::Debug for Composer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Composer(…)")
    }
}

/// Checks a search without sending it.
pub(super) fn compose(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let mut given: Map<String, Value> = call.json()?;
    // A client reads days as the service does only with its settings.
    let switches = &service.interpretation().switches;
    let is_inclusive = switches.day_comparison == DayComparison::Inclusive;
    given.insert("timezone".to_owned(), switches.day_zone.clone().into());
    given.insert("day_comparison".to_owned(), if is_inclusive { "inclusive" } else { "exclusive" }.into());
    let composed = service.composer.as_ref().and_then(|composer| (composer.0)(&Value::from(given).to_string()));
    let answer = composed.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(body) = answer else {
        let problem = "this sandbox cannot check searches: it was started without the client";
        return Err(Failure::new(StatusCode::NOT_FOUND, Kind::Sandbox, problem));
    };
    let status = if body.get("error").is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(Answer { status, body, allow: None })
}
