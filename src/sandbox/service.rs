//! The two operations: from the headers and body of a request to a response.
//!
//! Everything runs synchronously on a blocking thread.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};

use super::control::Call;
use super::demo::{Demo, DemoData};
use super::exports::{Exports, export_data};
use super::faults::Faults;
use super::objects::BusinessObject;
use super::options::Clock;
use super::reply::{Refusal, json, object, opened, success};
use super::request::{self, Interpretation, Target};
use super::request_log::Log;
use super::response_writer::ResponseWriter;
use super::rows::RowWriter;
use super::store::Store;
use super::switches::{BearerCase, DownloadOrder, EmptyShape, Switches, UnknownExport};
use super::tokens::{Grant, Tokens, bearer_token};
use crate::contract::SCOPE_ITEM;
use crate::contract::business_object::PROMOTION_CODE_NAME;
use crate::contract::envelope::{CODE_SUCCESS, MESSAGE_DOWNLOAD, MESSAGE_SEARCH, field};
use crate::error::{Error, Kind, Result, excerpt};

/// State of the service.
pub(super) struct Service {
    pub(super) store: Arc<Store>,
    pub(super) exports: Exports,
    pub(super) tokens: Tokens,
    pub(super) faults: Arc<Faults>,
    pub(super) log: Arc<Log>,
    pub(super) clock: Clock,
    interpretation: RwLock<Arc<Interpretation>>,
    /// The switches of the start.
    started_with: Switches,
    /// The demo data, if it has any.
    pub(super) demo: Option<DemoData>,
    /// Whether the rows are in a file, which may hold more than the start had.
    pub(super) has_file: bool,
    base_url: OnceLock<String>,
    /// The calls that belong to the start, such as the calls of a scenario file: a reset repeats them.
    start_calls: Mutex<Vec<Call>>,
    /// Held by each load, so that a reset removes its rows too.
    pub(super) loading: RwLock<()>,
    search_timeout: Duration,
}

impl Service {
    /// A service with this store, to which it adds the demo data.
    pub(super) fn new(
        store: Store,
        switches: Switches,
        clock: Clock,
        demo: Option<Demo>,
        search_timeout: Duration,
    ) -> Result<Self> {
        let started_with = switches.clone();
        let interpretation = RwLock::new(Arc::new(Interpretation::new(switches)?));
        let (exports, tokens, faults, log) = Default::default();
        let (store, demo) = (Arc::new(store), demo.map(DemoData::new));
        let (has_file, base_url) = (false, OnceLock::new());
        let service = Self {
            store,
            exports,
            tokens,
            faults,
            log,
            clock,
            interpretation,
            started_with,
            demo,
            has_file,
            base_url,
            start_calls: Mutex::default(),
            loading: RwLock::default(),
            search_timeout,
        };
        service.fill()?;
        Ok(service)
    }

    /// The switches of now, with the zones that they name.
    pub(super) fn interpretation(&self) -> Arc<Interpretation> {
        Arc::clone(&self.interpretation.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes switches for the requests that come next, all or none.
    pub(super) fn switch(&self, changes: &Map<String, Value>) -> Result<()> {
        let mut interpretation = self.interpretation.write().unwrap_or_else(PoisonError::into_inner);
        *interpretation = Arc::new(Interpretation::new(interpretation.switches.with(changes)?)?);
        Ok(())
    }

    /// The address, empty before the service listens.
    pub(super) fn base_url(&self) -> &str {
        self.base_url.get().map_or("", String::as_str)
    }

    /// Keeps a call for resets.
    pub(super) fn keep(&self, call: Call) {
        self.start_calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// The calls of the start, each as `copy` copies it.
    pub(super) fn start_calls(&self, copy: impl Fn(&Call) -> Call) -> Vec<Call> {
        self.start_calls.lock().unwrap_or_else(PoisonError::into_inner).iter().map(copy).collect()
    }

    /// Sets the address once the port is known.
    pub(super) fn set_base_url(&self, base_url: &str) {
        self.base_url.get_or_init(|| base_url.to_owned());
    }

    /// Loads the demo data.
    fn fill(&self) -> Result<()> {
        let Some(demo) = &self.demo else { return Ok(()) };
        demo.fill(&self.store, &self.exports, &self.interpretation().zones, self.clock.now())
    }

    /// Puts data, exports, faults, switches, clock and log back to what they were at the start. Tokens stay valid.
    pub(super) fn reset(&self) -> Result<()> {
        let _loads_have_ended = self.loading.write().unwrap_or_else(PoisonError::into_inner);
        if self.has_file {
            let problem = "db: a sandbox whose rows are in a file cannot be reset";
            return Err(Error::new(Kind::Sandbox, problem).with_hint("clear its objects, or start without a file"));
        }
        let switches = Arc::new(Interpretation::new(self.started_with.clone())?);
        *self.interpretation.write().unwrap_or_else(PoisonError::into_inner) = switches;
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
        let known = self.interpretation().switches.scopes();
        let Some(unknown) = scopes.iter().find(|scope| !known.contains(scope)) else { return Ok(()) };
        let problem = format!("scopes: there is no `{}`", excerpt(unknown, 60));
        Err(Error::new(Kind::Config, problem).with_hint(format!("there are {}", known.join(", "))))
    }

    /// Brings the demo data up to the time of the clock.
    pub(super) fn refresh_demo(&self) -> Result<()> {
        let now = self.clock.now();
        self.demo.as_ref().map_or(Ok(()), |demo| demo.refresh(&self.store, &self.interpretation().zones, now))
    }

    /// Deletes all rows of an object and returns their number.
    pub(super) fn clear(&self, object: &str) -> Result<usize> {
        if let Some(demo) = self.demo.as_ref().filter(|_| object == PROMOTION_CODE_NAME) {
            demo.stop();
        }
        self.store.clear(object)
    }

    /// The search (sections 4.1 and 4.2).
    pub(super) fn search(
        &self,
        interpretation: &Interpretation,
        headers: &HeaderMap,
        body: &[u8],
        response_writer: &mut ResponseWriter,
    ) -> Result<(), Refusal> {
        let switches = &interpretation.switches;
        let grant = self.grant(headers, switches)?;
        let generic_scope = &switches.generic_scope;
        if !grant.allows(SCOPE_ITEM) && !grant.allows(generic_scope) {
            return Err(Refusal::Permission);
        }
        let target = Target::read(body)?;
        if target.is_promotion_codes() {
            require(&grant, SCOPE_ITEM)?;
            require_json(headers)?;
        } else {
            require(&grant, generic_scope)?;
        }
        self.records(interpretation, body, &target, response_writer)
    }

    /// The segment download (section 4.3).
    pub(super) fn download(
        &self,
        interpretation: &Interpretation,
        headers: &HeaderMap,
        body: &[u8],
        response_writer: &mut ResponseWriter,
    ) -> Result<(), Refusal> {
        let started = Instant::now();
        let switches = &interpretation.switches;
        let grant = self.grant(headers, switches)?;
        let scope = || require(&grant, &switches.download_scope);
        if switches.download_order == DownloadOrder::ScopeFirst {
            scope()?;
        }
        let id = request::export_id(body)?;
        let data = match (self.exports.at(id, self.clock.now(), switches), switches.unknown_export) {
            (Some(data), _) => data,
            (None, UnknownExport::NoEntries) => export_data(Vec::new()),
            (None, UnknownExport::NotFound) => {
                let problem = format!("exportId: there is no export {id}");
                return Err(Refusal::Problem(StatusCode::NOT_FOUND, problem));
            }
        };
        scope()?;
        let duration = json(&format!("{}ms", started.elapsed().as_millis()));
        let after = [(field::CODE_MESSAGE, json(&Value::Null)), (field::DURATION, duration)];
        let envelope = success(MESSAGE_DOWNLOAD, json(&data), &after);
        response_writer.buffer().extend_from_slice(envelope.as_bytes());
        Ok(())
    }

    fn records(
        &self,
        interpretation: &Interpretation,
        body: &[u8],
        target: &Target,
        response_writer: &mut ResponseWriter,
    ) -> Result<(), Refusal> {
        let known = self.store.objects().map_err(|cause| unavailable(&cause))?;
        let found = known.iter().find(|object| target.is(object)).ok_or_else(|| target.unknown(&known))?;
        let query = request::query(body, found, interpretation)?;
        self.refresh_demo().map_err(|cause| unavailable(&cause))?;
        let members = [(field::CODE, json(&CODE_SUCCESS)), (field::MESSAGE, json(&MESSAGE_SEARCH))];
        let status = [(field::STATUS, json(&true))];
        let data = opened(&status, field::RECORDS);
        let attributes = query.attributes.iter().filter_map(|index| found.attributes.get(*index));
        let keys = attributes.map(|attribute| attribute.name.as_str());
        let mut writer = if target.is_promotion_codes() {
            RowWriter::of_codes(keys, &interpretation.switches)
        } else {
            RowWriter::new(keys)
        };
        let should_stop = response_writer.should_stop(self.search_timeout);
        response_writer.buffer().extend_from_slice(opened(&members, field::DATA).as_bytes());
        let searched = self.store.search(found, query, should_stop, |row| {
            if writer.rows() == 0 {
                response_writer.buffer().extend_from_slice(format!("{data}[").as_bytes());
            }
            writer.write(row, response_writer.buffer())?;
            response_writer.flush_if_large()
        });
        searched.map_err(|cause| unavailable(&cause))?;
        let end = match interpretation.switches.empty_shape {
            _ if writer.rows() > 0 => "]}".to_owned(),
            EmptyShape::Array => format!("{data}[]}}"),
            EmptyShape::Object => format!("{data}{{}}}}"),
            EmptyShape::Null => format!("{data}null}}"),
            EmptyShape::Absent => object(&status),
        };
        response_writer.buffer().extend_from_slice(format!("{end}}}").as_bytes());
        Ok(())
    }

    /// The grant of the bearer token.
    fn grant(&self, headers: &HeaderMap, switches: &Switches) -> Result<Grant, Refusal> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return Err(Refusal::Permission) };
        let token = value.to_str().ok().and_then(bearer_token);
        let token = token.filter(|(scheme, _)| switches.bearer_case == BearerCase::Any || *scheme == "Bearer");
        token.and_then(|(_, token)| self.tokens.grant(token, self.clock.now())).ok_or(Refusal::Permission)
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

/// The refusal of a failed search. Only a retryable failure sends its message.
fn unavailable(cause: &Error) -> Refusal {
    if cause.is_retryable() {
        return Refusal::Problem(StatusCode::SERVICE_UNAVAILABLE, cause.message().to_owned());
    }
    Refusal::internal()
}
