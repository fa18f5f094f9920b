//! The two operations: from the headers and body of a request to an answer, without any I/O of the network.
//!
//! Everything here runs synchronously on a thread of its own; a panic in it is contained by the routes.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{HeaderMap, StatusCode, header};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::answer::{Answer, Frame, Refusal, json, object, success};
use super::exports::{Exports, export_data};
use super::faults::Faults;
use super::options::Clock;
use super::received::Log;
use super::request::{self, Target};
use super::store::Store;
use super::switches::{EmptyShape, Switches, UnknownExport};
use super::tokens::{Grant, Tokens};
use crate::contract::SCOPE_ITEM;
use crate::contract::business_object::PROMOTION_CODE_NAME;
use crate::contract::envelope::{CODE_SUCCESS, MESSAGE_DOWNLOAD, MESSAGE_SEARCH, field};
use crate::error::{Error, Kind, Result};

/// All that the service knows.
pub(super) struct Service {
    pub(super) store: Store,
    pub(super) exports: Exports,
    pub(super) tokens: Tokens,
    pub(super) faults: Arc<Faults>,
    pub(super) log: Arc<Log>,
    pub(super) clock: Clock,
    pub(super) switches: Switches,
    day_zone: TimeZone,
}

impl Service {
    /// A service without data.
    pub(super) fn new(switches: Switches, clock: Clock) -> Result<Self> {
        let day_zone = TimeZone::get(&switches.day_zone).map_err(|cause| {
            Error::new(Kind::Sandbox, format!("switch day_zone: `{}` is not an IANA time zone", switches.day_zone))
                .with_hint("write it as Asia/Ho_Chi_Minh, or UTC")
                .with_source(cause)
        })?;
        let (exports, tokens, faults, log) = Default::default();
        Ok(Self { store: Store::open()?, exports, tokens, faults, log, clock, switches, day_zone })
    }

    /// Sections 4.1 and 4.2.
    pub(super) fn search(&self, headers: &HeaderMap, body: &[u8]) -> Result<Answer, Refusal> {
        let grant = self.grant(headers)?;
        let generic_scope = &self.switches.generic_scope;
        if !grant.allows(SCOPE_ITEM) && !grant.allows(generic_scope) {
            return Err(Refusal::Permission);
        }
        let body = request::parse(body)?;
        let target = Target::read(&body)?;
        if target.is_promotion_codes() {
            require(&grant, SCOPE_ITEM)?;
            require_json(headers)?;
        } else {
            require(&grant, generic_scope)?;
        }
        self.records(&body, &target)
    }

    /// Section 4.3.
    pub(super) fn download(&self, headers: &HeaderMap, body: &[u8]) -> Result<Answer, Refusal> {
        let started = Instant::now();
        require(&self.grant(headers)?, &self.switches.download_scope)?;
        let id = request::export_id(&request::parse(body)?)?;
        let known = self.exports.at(id, self.clock.now(), &self.switches);
        let data = match (known, self.switches.unknown_export) {
            (Some(data), _) => data,
            (None, UnknownExport::NoEntries) => export_data(Vec::new()),
            (None, UnknownExport::NotFound) => {
                let problem = format!("exportId: there is no export {id}");
                return Err(Refusal::Problem(StatusCode::NOT_FOUND, problem));
            }
        };
        let duration = json(&format!("{}ms", started.elapsed().as_millis()));
        let after = [(field::CODE_MESSAGE, json(&Value::Null)), (field::DURATION, duration)];
        Ok(success(self.switches.key_order, MESSAGE_DOWNLOAD, json(&data), &after))
    }

    fn records(&self, body: &Value, target: &Target<'_>) -> Result<Answer, Refusal> {
        let table = self.store.find(|object| target.is(object)).ok_or_else(|| target.unknown())?;
        let query = request::query(body, &table.object, &self.day_zone)?;
        let order = self.switches.key_order;
        let members = [(field::CODE, json(&CODE_SUCCESS)), (field::MESSAGE, json(&MESSAGE_SEARCH))];
        let envelope = Frame::new(order, &members, field::DATA);
        let status = [(field::STATUS, json(&true))];
        let data = Frame::new(order, &status, field::RECORDS);
        let mut found = format!("{}{}[", envelope.before, data.before).into_bytes();
        if self.store.search(&table, query, &mut found).map_err(|cause| unavailable(&cause))? == 0 {
            let empty = match self.switches.empty_shape {
                EmptyShape::Array => format!("{}[]{}", data.before, data.after),
                EmptyShape::Object => format!("{}{{}}{}", data.before, data.after),
                EmptyShape::Null => format!("{}null{}", data.before, data.after),
                EmptyShape::Absent => object(order, &status),
            };
            found = format!("{}{empty}", envelope.before).into_bytes();
        } else {
            found.extend_from_slice(format!("]{}", data.after).as_bytes());
        }
        found.extend_from_slice(envelope.after.as_bytes());
        Ok(Answer { status: StatusCode::OK, body: found })
    }

    /// What the bearer may do; the scheme is written as section 5 writes it.
    fn grant(&self, headers: &HeaderMap) -> Result<Grant, Refusal> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return Err(Refusal::Permission) };
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        token.and_then(|token| self.tokens.grant(token, self.clock.now())).ok_or(Refusal::Permission)
    }
}

fn require(grant: &Grant, scope: &str) -> Result<(), Refusal> {
    if grant.allows(scope) { Ok(()) } else { Err(Refusal::Permission) }
}

/// `Content-Type` is required for the promotion code variant (section 4.1).
fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let problem = format!("Content-Type: a search of {PROMOTION_CODE_NAME} needs application/json");
    Err(Refusal::Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem))
}

/// A store that is busy with a load can be asked again.
fn unavailable(cause: &Error) -> Refusal {
    if cause.is_retryable() {
        let problem = "rows are being loaded into the sandbox; ask again in a moment";
        return Refusal::Problem(StatusCode::SERVICE_UNAVAILABLE, problem.to_owned());
    }
    Refusal::internal()
}
