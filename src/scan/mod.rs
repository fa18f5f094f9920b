//! Scans: one request or hundreds, whose result is streamed, collected or written to files, as columns or rows.
//!
//! Decides the types of the columns, how many requests are in flight, and which figures and warnings a result has.
//! `client` sends the requests; the caller provides the runtime.

mod cap;
mod collect;
mod data_warning;
#[cfg(feature = "files")]
mod folder;
mod ids;
mod judge;
mod one_request;
mod progress;
mod record_stats;
mod request;
mod responses;
mod result_times;
mod schema;
mod split;
mod stats;
mod stream;
mod task;
mod typed_batches;
mod verdict;
mod window;
#[cfg(feature = "files")]
mod write;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::{Schema, SchemaRef};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub use collect::{Collected, LastRows};
pub use data_warning::{DataWarning, DataWarningKind};
#[cfg(feature = "files")]
pub use folder::{Ask, FailedTask, FileReport, FolderReport, OnDoubt, RunOptions, Service, State, folder_status};
pub use progress::Progress;
#[cfg(feature = "python")]
pub(crate) use responses::panicked;
pub use stats::{Figures, Stats};
pub use stream::{LastStats, Next, Stream};
#[cfg(feature = "files")]
pub use write::Format;

use crate::client::{DeliveryMode, SearchMode, TimeoutScope};
use crate::columns::{self, Column, ColumnType};
use crate::contract::business_object::{CUSTOMER_ID, PROMOTION_CODE_ID};
use crate::contract::search::SearchBody;
use crate::error::{Error, Problem, Result};
use crate::filter::{InputValue, Plan};
use crate::time::Calendar;
use progress::Reporter;
use result_times::ResultTimes;
use window::position_of_day;

/// What the caller of a scan does with its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consumer {
    /// Gets all rows or none.
    Collects,
    /// Gets batches as they arrive.
    Streams,
    /// Writes a file, anew if need be, that appears when it is complete.
    #[cfg(feature = "files")]
    Writes,
}

/// A valid plan, or some of its requests, with the types of their columns.
#[derive(Clone, Debug)]
pub struct Scan {
    operation: &'static str,
    plan: Arc<Plan>,
    /// The requests of the plan that belong to this scan.
    chosen: Range<usize>,
    /// Whether it is one request of a larger scan.
    is_task: bool,
    limit: Option<u64>,
    /// In place of the client's `timeout=`.
    timeout: Option<Duration>,
    /// Whether the time-out bounds all requests together, if the result is collected.
    is_bounded: bool,
    /// When its run began, if it is a task of one.
    begun: Option<Instant>,
    columns: Vec<Column>,
    /// The days of the caller: in its zone they are checked and named.
    calendar: Calendar,
    times: ResultTimes,
    /// Whether requests whose response looks capped are split.
    is_splitting: bool,
    /// Numbers of rows at which responses of a larger scan look capped.
    caps: BTreeSet<u64>,
    /// If each request is for one day: the position of its condition.
    by_day: Option<usize>,
    /// Where its progress goes.
    reporter: Option<Reporter>,
}

impl Scan {
    /// A scan of a plan with the types of `schema=`. `calendar` is the calendar of the plan.
    ///
    /// # Errors
    /// `Validation`, with every problem of the plan and of the schema.
    pub fn try_new(
        operation: &'static str,
        plan: Result<Plan>,
        schema: &InputValue,
        calendar: &Calendar,
    ) -> Result<Self> {
        let known = plan.as_ref().ok().map(|plan| &*plan.template().attributes);
        let (types, mut problems) = schema::check(schema, known);
        match plan {
            Ok(plan) if problems.is_empty() => {
                let columns = match plan.template().body.item_type_id {
                    PROMOTION_CODE_ID => columns::codes,
                    CUSTOMER_ID => columns::customers,
                    _ => columns::items,
                };
                let columns = columns(&plan.template().attributes, &types);
                Ok(Self { columns, ..Self::of_rows(operation, plan, calendar) })
            }
            Ok(_) => Err(Error::validation(problems)),
            Err(error) if error.problems().is_empty() => Err(error),
            Err(error) => {
                problems.splice(0..0, error.problems().iter().cloned());
                Err(Error::validation(problems))
            }
        }
    }

    /// A scan for rows alone, without column types.
    #[must_use]
    pub fn of_rows(operation: &'static str, plan: impl Into<Plan>, calendar: &Calendar) -> Self {
        let plan = plan.into();
        let by_day = position_of_day(&plan);
        Self {
            operation,
            chosen: 0..plan.requests(),
            is_task: false,
            limit: plan.template().limit,
            timeout: None,
            is_bounded: false,
            begun: None,
            columns: Vec::new(),
            calendar: calendar.clone(),
            times: ResultTimes::default(),
            is_splitting: false,
            caps: BTreeSet::new(),
            by_day,
            reporter: None,
            plan: Arc::new(plan),
        }
    }

    /// The time at which `today` was read, in Unix milliseconds.
    pub const fn now(&self) -> i64 {
        self.calendar.now.milliseconds()
    }

    /// The number of requests.
    pub fn requests(&self) -> usize {
        self.chosen.len()
    }

    /// The body of a request.
    pub fn body(&self, index: usize) -> SearchBody {
        self.plan.search(self.chosen.start + index).body.clone()
    }

    /// The names of the columns.
    pub fn attributes(&self) -> &[String] {
        &self.plan.template().attributes
    }

    /// The types of the columns in words.
    pub fn types(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.column_type.map_or("inferred", ColumnType::described))
    }

    /// The schema of the batches, if no type has to be inferred from rows.
    pub fn schema(&self, views: bool) -> Option<SchemaRef> {
        columns::schema(&self.columns, views).map(|schema| self.times.schema(schema))
    }

    /// The schema of a result without rows.
    fn empty_schema(&self, views: bool) -> Result<SchemaRef> {
        let (schema, ..) = columns::unify(&self.columns, views, Vec::new())?;
        Ok(self.times.schema(schema))
    }

    /// The same scan with the types of a schema that was inferred, so that another result has the same types.
    ///
    /// # Errors
    /// `Internal` when it is no schema of a scan.
    pub fn frozen(&self, schema: &Schema) -> Result<Self> {
        Ok(Self { columns: columns::frozen(&self.columns, &columns::types(schema)?), ..self.clone() })
    }

    /// The same scan, whose types are assumed where those of another scan are: they were inferred from its rows.
    #[must_use]
    pub fn assuming(mut self, other: &Self) -> Self {
        let is_assumed = |name: &String| other.columns.iter().any(|column| column.name == *name && column.is_assumed);
        self.columns.iter_mut().for_each(|column| column.is_assumed = is_assumed(&column.name));
        self
    }

    /// The same scan for at most `limit` records.
    #[must_use]
    pub fn limited(&self, limit: Option<u64>) -> Self {
        Self { limit: [self.limit, limit].into_iter().flatten().min(), ..self.clone() }
    }

    /// The same scan with a time-out in place of the client's.
    #[must_use]
    pub fn within(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// The same scan with a time-out that bounds all its requests together, if its result is collected.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self { is_bounded: true, ..self }
    }

    /// The same scan with the requests split whose responses look capped, or not.
    #[must_use]
    pub fn splitting(self, is_splitting: bool) -> Self {
        Self { is_splitting, ..self }
    }

    /// The same scan with the requests split whose responses look capped, or have this number of rows.
    #[cfg(feature = "files")]
    fn split_at(self, cap: Option<u64>) -> Self {
        Self { is_splitting: true, caps: cap.into_iter().collect(), ..self }
    }

    /// Whether requests are split whose responses look capped. A limit cuts responses itself.
    fn splits(&self) -> bool {
        self.is_splitting && self.limit.is_none()
    }

    /// A number of rows at which the service is known to cut its responses.
    fn known_row_cap(&self) -> Option<u64> {
        self.plan.template().known_row_cap
    }

    /// The same scan, whose next use reports its progress.
    #[must_use]
    pub fn reporting(self) -> (Self, mpsc::Receiver<Progress>) {
        let (reporter, progress) = progress::channel(self.requests());
        (Self { reporter: Some(reporter), ..self }, progress)
    }

    /// How the requests are sent, which begins now.
    fn mode(&self, consumer: Consumer) -> SearchMode {
        let is_one = self.requests() == 1;
        let delivery = match consumer {
            // The batches of a single response are taken as they arrive, and voided by a retry.
            Consumer::Collects if is_one => DeliveryMode::Replaceable,
            Consumer::Collects => DeliveryMode::Complete,
            #[cfg(feature = "files")]
            Consumer::Writes if is_one => DeliveryMode::Replaceable,
            // Of several responses, one that is no longer than a batch can be retried to its end.
            _ => DeliveryMode::Streamed { held: usize::from(!is_one) },
        };
        let is_call = is_one && !self.is_task;
        let scope = match consumer {
            Consumer::Collects if self.is_bounded || is_call => TimeoutScope::whole(),
            Consumer::Streams if is_call => TimeoutScope::ToFirstRow,
            _ => TimeoutScope::EachToFirstRow(self.begun.unwrap_or_else(Instant::now)),
        };
        let is_patient = !self.is_bounded;
        SearchMode { operation: self.operation, delivery, scope, timeout: self.timeout, is_patient, token_wait: None }
    }
}

/// The error for an argument.
fn invalid(argument: &str, message: &str) -> Error {
    let (argument, message) = (argument.to_owned(), message.to_owned());
    Error::validation(vec![Problem { argument, path: String::new(), message, value: String::new() }])
}

#[cfg(test)]
mod tests;
