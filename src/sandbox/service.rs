//! The two operations: from the headers and body of a request to a response.
//!
//! Everything runs synchronously on a blocking thread.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::control::Call;
use super::days::Zones;
use super::demo::Demo;
use super::exports::{Exports, export_data};
use super::faults::Faults;
use super::objects::BusinessObject;
use super::options::Clock;
use super::reply::{Frame, Refusal, json, object, success};
use super::request::{self, Interpretation, Target};
use super::request_log::Log;
use super::response_writer::ResponseWriter;
use super::rows::{RowWriter, Wrapper};
use super::store::Store;
use super::switches::{ChannelIdType, EmptyShape, LastUsedType, Switches, UnknownExport};
use super::tokens::{Grant, Tokens, bearer_token};
use crate::contract::SCOPE_ITEM;
use crate::contract::business_object::{PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::envelope::{CODE_SUCCESS, MESSAGE_DOWNLOAD, MESSAGE_SEARCH, field};
use crate::error::{Error, Kind, Result, excerpt, named};

/// State of the service.
pub(super) struct Service {
    pub(super) store: Arc<Store>,
    pub(super) exports: Exports,
    pub(super) tokens: Tokens,
    pub(super) faults: Arc<Faults>,
    pub(super) log: Arc<Log>,
    pub(super) clock: Clock,
    pub(super) switches: Switches,
    pub(super) zones: Zones,
    /// What the service was started with, for a reset.
    pub(super) start: Start,
    search_timeout: Duration,
}

/// What a service was started with.
#[derive(Default)]
pub(super) struct Start {
    /// The demo data.
    pub(super) demo: Option<Demo>,
    /// Whether the rows are in a file, which holds more than the start had.
    pub(super) has_file: bool,
    base_url: OnceLock<String>,
    /// The calls that belong to the start, as those of a scenario file.
    calls: Mutex<Vec<Call>>,
}

impl Start {
    pub(super) fn new(demo: Option<Demo>, has_file: bool) -> Self {
        Self { demo, has_file, ..Self::default() }
    }

    /// Keeps a call for resets.
    pub(super) fn keep(&self, call: Call) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// The calls of the start, each as `copy` copies it.
    pub(super) fn calls(&self, copy: impl Fn(&Call) -> Call) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().map(copy).collect()
    }

    /// Sets the address once the port is known.
    pub(super) fn set_base_url(&self, base_url: &str) {
        self.base_url.get_or_init(|| base_url.to_owned());
    }

    /// The address, empty before the service listens.
    pub(super) fn base_url(&self) -> &str {
        self.base_url.get().map_or("", String::as_str)
    }
}

impl Service {
    /// A service with this store.
    pub(super) fn new(
        store: Store,
        switches: Switches,
        clock: Clock,
        start: Start,
        search_timeout: Duration,
    ) -> Result<Self> {
        let zones = Zones {
            days: zone("day_zone", &switches.day_zone)?,
            records: zone("source_timezone", &switches.source_timezone)?,
        };
        let (exports, tokens, faults, log) = Default::default();
        let store = Arc::new(store);
        Ok(Self { store, exports, tokens, faults, log, clock, switches, zones, start, search_timeout })
    }

    /// Loads the data of the start.
    pub(super) fn fill(&self) -> Result<()> {
        let Some(demo) = &self.start.demo else { return Ok(()) };
        demo.fill(&self.store, &self.exports, &self.zones, self.clock.now())
    }

    /// Puts data, exports, faults, clock and log back to what they were at the start. Tokens stay valid.
    pub(super) fn reset(&self) -> Result<()> {
        if self.start.has_file {
            let problem = format!("{}: a sandbox whose rows are in a file cannot be reset", named("db"));
            return Err(Error::new(Kind::Sandbox, problem).with_hint("clear its objects, or start without a file"));
        }
        self.store.reset(&BusinessObject::of_the_specification())?;
        self.exports.clear();
        self.faults.end_all();
        self.clock.reset();
        self.fill()?;
        self.log.clear();
        Ok(())
    }

    /// Rejects scopes that nothing needs.
    pub(super) fn check_scopes(&self, scopes: &[String]) -> Result<()> {
        let known = self.switches.scopes();
        let Some(unknown) = scopes.iter().find(|scope| !known.contains(scope)) else { return Ok(()) };
        let problem = format!("{}: there is no `{}`", named("scopes"), excerpt(unknown, 60));
        Err(Error::new(Kind::Config, problem).with_hint(format!("there are {}", known.join(", "))))
    }

    /// The search (sections 4.1 and 4.2).
    pub(super) fn search(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        response_writer: &mut ResponseWriter,
    ) -> Result<(), Refusal> {
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
        self.records(&body, &target, response_writer)
    }

    /// The segment download (section 4.3).
    pub(super) fn download(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        response_writer: &mut ResponseWriter,
    ) -> Result<(), Refusal> {
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
        let envelope = success(self.switches.key_order, MESSAGE_DOWNLOAD, json(&data), &after);
        response_writer.buffer().extend_from_slice(envelope.as_bytes());
        Ok(())
    }

    fn records(&self, body: &Value, target: &Target<'_>, response_writer: &mut ResponseWriter) -> Result<(), Refusal> {
        let table = self.store.find(|object| target.is(object)).map_err(|cause| unavailable(&cause))?;
        let table = table.ok_or_else(|| target.unknown())?;
        let interpretation = Interpretation { zones: &self.zones, switches: &self.switches };
        let query = request::query(body, &table.object, &interpretation)?;
        let order = self.switches.key_order;
        let members = [(field::CODE, json(&CODE_SUCCESS)), (field::MESSAGE, json(&MESSAGE_SEARCH))];
        let envelope = Frame::new(order, &members, field::DATA);
        let status = [(field::STATUS, json(&true))];
        let data = Frame::new(order, &status, field::RECORDS);
        let mut writer = self.writer(&table.object, &query.attributes);
        let should_stop = response_writer.should_stop(self.search_timeout);
        response_writer.buffer().extend_from_slice(envelope.before.as_bytes());
        let found = self.store.search(&table, query, should_stop, |row| {
            if writer.rows() == 0 {
                response_writer.buffer().extend_from_slice(format!("{}[", data.before).as_bytes());
            }
            writer.write(row, response_writer.buffer())?;
            response_writer.flush_if_large()
        });
        found.map_err(|cause| unavailable(&cause))?;
        let end = match self.switches.empty_shape {
            _ if writer.rows() > 0 => format!("]{}", data.after),
            EmptyShape::Array => format!("{}[]{}", data.before, data.after),
            EmptyShape::Object => format!("{}{{}}{}", data.before, data.after),
            EmptyShape::Null => format!("{}null{}", data.before, data.after),
            EmptyShape::Absent => object(order, &status),
        };
        response_writer.buffer().extend_from_slice(format!("{end}{}", envelope.after).as_bytes());
        Ok(())
    }

    /// A writer of records with these attributes, in the format that the switches choose.
    fn writer(&self, object: &BusinessObject, attributes: &[usize]) -> RowWriter {
        let wrapper = |name: &str| match name {
            _ if object.id != PROMOTION_CODE_ID => Wrapper::PLAIN,
            "last_used_source" | "last_used_time" if self.switches.last_used_type == LastUsedType::Object => {
                Wrapper::OBJECT
            }
            "channel_id" if self.switches.channel_id_type == ChannelIdType::String => Wrapper::QUOTED,
            _ => Wrapper::PLAIN,
        };
        let names = attributes.iter().filter_map(|index| object.attributes.get(*index));
        RowWriter::new(names.map(|attribute| (attribute.name.as_str(), wrapper(&attribute.name))))
    }

    /// The grant of the bearer token. The scheme is case-insensitive (RFC 9110, section 11.1).
    fn grant(&self, headers: &HeaderMap) -> Result<Grant, Refusal> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return Err(Refusal::Permission) };
        let token = value.to_str().ok().and_then(bearer_token).map(|(_, token)| token);
        token.and_then(|token| self.tokens.grant(token, self.clock.now())).ok_or(Refusal::Permission)
    }
}

/// The zone that a switch names.
fn zone(switch: &str, name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|cause| {
        Error::new(Kind::Sandbox, format!("switch {switch}: `{name}` is not an IANA time zone"))
            .with_hint("write it as Asia/Ho_Chi_Minh, or UTC")
            .with_source(cause)
    })
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

/// The refusal of a failed search. Only a retryable failure sends its message.
fn unavailable(cause: &Error) -> Refusal {
    if cause.is_retryable() {
        return Refusal::Problem(StatusCode::SERVICE_UNAVAILABLE, cause.message().into_owned());
    }
    Refusal::internal()
}
