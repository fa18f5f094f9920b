//! Scans: one request or hundreds, whose result is streamed, collected or written to files, as columns or rows.
//!
//! Decides the types of the columns, how many requests are in flight, and which figures and warnings a result has.
//! `client` sends the requests; the caller provides the runtime.

mod by_day;
mod cap;
mod collect;
mod data_warning;
mod day;
#[cfg(feature = "files")]
mod doubts;
#[cfg(feature = "files")]
mod folder_status;
mod ids;
mod one_request;
#[cfg(feature = "files")]
mod outdated;
#[cfg(feature = "files")]
mod part_writer;
mod progress;
#[cfg(feature = "files")]
mod query;
#[cfg(feature = "files")]
mod read;
mod record_stats;
#[cfg(feature = "files")]
mod refresh;
#[cfg(feature = "files")]
mod report;
mod request;
mod response;
mod responses;
#[cfg(feature = "files")]
mod run;
#[cfg(feature = "files")]
mod run_options;
#[cfg(feature = "files")]
mod run_progress;
mod schema;
#[cfg(feature = "files")]
mod service;
#[cfg(feature = "files")]
mod shrink;
mod split;
mod stats;
#[cfg(feature = "files")]
mod stored;
mod stream;
mod task;
mod typed_batches;
#[cfg(feature = "files")]
mod write;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::{Schema, SchemaRef};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub use collect::Collected;
pub use data_warning::{DataWarning, DataWarningKind};
#[cfg(feature = "files")]
pub use folder_status::{FolderStatus, PartStatus, folder_status};
pub use progress::Progress;
#[cfg(feature = "files")]
pub use read::read_files;
#[cfg(feature = "files")]
pub use report::{FailedTask, Report, TaskReport};
#[cfg(feature = "python")]
pub(crate) use response::panicked;
#[cfg(feature = "files")]
pub use run_options::{Ask, Keep, Layout, OnDoubt, OnShrink, RunOptions};
#[cfg(feature = "files")]
pub use service::Service;
pub use stats::Stats;
pub use stream::{LastStats, Next, Stream};
#[cfg(feature = "files")]
pub use write::Format;

use crate::client::{DeliveryMode, SearchMode, TimeoutScope};
use crate::columns::{self, Column, Type};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::search::SearchBody;
use crate::error::{Error, Problem, Result};
use crate::filter::{InputValue, Plan};
use crate::time::Zone;
use by_day::ByDay;
use progress::Reporter;
use request::PlannedRequest;

/// What the time-out of a scan bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeLimit {
    OfEachRequest,
    /// All together, if the result is collected.
    OfAllRequests,
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
    /// Whether rows come in the order of the plan.
    is_ordered: bool,
    limit: Option<u64>,
    /// In place of the client's `timeout=`.
    timeout: Option<Duration>,
    time_limit: TimeLimit,
    columns: Vec<Column>,
    /// The caller's zone, in which days are checked and named.
    zone: Zone,
    /// Whether requests whose response looks capped are split.
    is_splitting: bool,
    /// Numbers of rows at which responses of a larger scan look capped.
    caps: BTreeSet<u64>,
    /// If each request is for one day.
    by_day: Option<ByDay>,
    /// Where its progress goes.
    reporter: Option<Reporter>,
}

impl Scan {
    /// A scan of a plan with the types of `schema=`. `zone` is that of the plan's times.
    ///
    /// # Errors
    /// `Validation`, with every problem of the plan and of the schema.
    pub fn try_new(operation: &'static str, plan: Result<Plan>, schema: &InputValue, zone: &Zone) -> Result<Self> {
        let known = plan.as_ref().ok().map(|plan| &*plan.template().attributes);
        let (types, mut problems) = schema::check(schema, known);
        match plan {
            Ok(plan) if problems.is_empty() => {
                let is_code = plan.template().body.item_type_id == PROMOTION_CODE_ID;
                let columns = if is_code { columns::codes } else { columns::items };
                let columns = columns(&plan.template().attributes, &types);
                Ok(Self { columns, ..Self::of_rows(operation, plan, zone) })
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
    pub fn of_rows(operation: &'static str, plan: impl Into<Plan>, zone: &Zone) -> Self {
        let plan = plan.into();
        let by_day = ByDay::of(&plan, zone);
        Self {
            operation,
            chosen: 0..plan.requests(),
            is_task: false,
            is_ordered: true,
            limit: plan.template().limit,
            timeout: None,
            time_limit: TimeLimit::OfEachRequest,
            columns: Vec::new(),
            zone: zone.clone(),
            is_splitting: false,
            caps: BTreeSet::new(),
            by_day,
            reporter: None,
            plan: Arc::new(plan),
        }
    }

    /// The number of requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.chosen.len()
    }

    /// The body of a request.
    #[must_use]
    pub fn body(&self, index: usize) -> SearchBody {
        self.plan.search(self.chosen.start + index).body.clone()
    }

    /// The names of the columns.
    #[must_use]
    pub fn attributes(&self) -> &[String] {
        &self.plan.template().attributes
    }

    /// The types of the columns in words.
    pub fn types(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.column_type.map_or("inferred", Type::described))
    }

    /// The schema of the batches, if no type has to be inferred from rows.
    #[must_use]
    pub fn schema(&self, views: bool) -> Option<SchemaRef> {
        columns::schema(&self.columns, views)
    }

    /// The same scan with the types of a schema that was inferred, so that another result has the same types.
    #[must_use]
    pub fn frozen(&self, schema: &Schema) -> Self {
        Self { columns: columns::frozen(&self.columns, &columns::type_names(schema)), ..self.clone() }
    }

    /// The same scan for at most `limit` records.
    #[must_use]
    pub fn limited(&self, limit: Option<u64>) -> Self {
        Self { limit: [self.limit, limit].into_iter().flatten().min(), ..self.clone() }
    }

    /// The same scan with its rows in the order of the plan, or as they arrive.
    #[must_use]
    pub fn ordered(self, is_ordered: bool) -> Self {
        Self { is_ordered, ..self }
    }

    /// The same scan with a time-out in place of the client's.
    #[must_use]
    pub fn within(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// The same scan with a time-out that bounds all its requests together, if its result is collected.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self { time_limit: TimeLimit::OfAllRequests, ..self }
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

    /// How requests are sent when the caller gets all rows or none.
    fn collected(&self) -> SearchMode {
        // The batches of a single response are taken as they arrive and voided by a retry.
        let delivery = if self.requests() > 1 { DeliveryMode::Complete } else { DeliveryMode::Provisional };
        let began = (self.time_limit == TimeLimit::OfAllRequests).then(Instant::now);
        let is_of_each = began.is_none() && (self.is_task || self.requests() > 1);
        let scope = if is_of_each { TimeoutScope::EachToFirstRow } else { TimeoutScope::Whole };
        SearchMode { operation: self.operation, delivery, scope, timeout: self.timeout, began }
    }

    /// How requests are sent when the caller gets batches as they arrive.
    fn streamed(&self) -> SearchMode {
        // Of several responses, one that is no longer than a batch can be retried to its end.
        let held = usize::from(self.requests() > 1);
        let delivery = DeliveryMode::Streamed { held };
        let is_of_each = self.is_task || held > 0;
        let scope = if is_of_each { TimeoutScope::EachToFirstRow } else { TimeoutScope::ToFirstRow };
        SearchMode { operation: self.operation, delivery, scope, timeout: self.timeout, began: None }
    }
}

/// The error for an argument.
fn invalid(argument: &str, message: &str) -> Error {
    let (argument, message) = (argument.to_owned(), message.to_owned());
    Error::validation(vec![Problem { argument, path: String::new(), message, value: String::new() }])
}
