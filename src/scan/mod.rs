//! Scans: what a search asks for, in one request or hundreds, as columns or rows: streamed, or collected whole.
//!
//! It decides what each column holds, in which order requests are sent and what is said of their answers. It sends
//! nothing itself, and spawns nothing: whoever runs a scan brings the runtime.

mod collect;
mod data_warning;
mod day;
mod record_stats;
#[cfg(feature = "files")]
mod report;
mod responses;
#[cfg(feature = "files")]
mod run;
mod schema;
mod stats;
mod stream;
#[cfg(feature = "files")]
mod write;

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};

pub use collect::Collected;
pub use data_warning::{DataWarning, DataWarningKind};
#[cfg(feature = "files")]
pub use report::{Report, TaskReport};
#[cfg(feature = "files")]
pub use run::{Progress, RunOptions};
pub use stats::Stats;
pub use stream::{LastStats, Next, Stream};
#[cfg(feature = "files")]
pub use write::Format;

use crate::client::{DeliveryMode, SearchMode};
use crate::columns::{self, Column};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::codes::REQUIRED_COLUMN;
use crate::contract::search::SearchBody;
use crate::error::{Error, Kind, Result};
use crate::filter::{InputValue, Plan, Search};
use crate::time::Zone;
use day::Day;

/// A plan that was checked, or some of its requests, and what their columns will hold.
#[derive(Clone, Debug)]
pub struct Scan {
    operation: &'static str,
    plan: Arc<Plan>,
    /// Those of the plan's requests that this is.
    chosen: Range<usize>,
    /// Whether it is one request of many.
    is_task: bool,
    /// Whether rows come in the order of the plan.
    is_ordered: bool,
    limit: Option<u64>,
    columns: Vec<Column>,
    /// In which its days were read, if it asks for promotion codes of one day or several.
    zone: Option<Zone>,
}

/// One request of a scan.
#[derive(Debug)]
struct PlannedRequest {
    search: Search,
    day: Option<Day>,
}

impl Scan {
    /// A scan of a plan, with `schema=` as given. Times without a zone were read in `zone`.
    ///
    /// # Errors
    /// `Validation`, with every problem of the plan and of the schema.
    pub fn try_new(operation: &'static str, plan: Result<Plan>, schema: &InputValue, zone: &Zone) -> Result<Self> {
        let known = plan.as_ref().ok().map(|plan| plan.template().attributes.as_slice());
        let (types, mut problems) = schema::check(schema, known);
        match plan {
            Ok(plan) if problems.is_empty() => {
                let is_code = plan.template().body.item_type_id == PROMOTION_CODE_ID;
                let columns = if is_code { columns::codes } else { columns::items };
                let columns = columns(&plan.template().attributes, &types);
                let has_days = is_code && Day::asked(&plan.search(0).body, zone).is_some();
                Ok(Self { columns, zone: has_days.then(|| zone.clone()), ..Self::of_rows(operation, plan) })
            }
            Ok(_) => Err(Error::validation(problems)),
            Err(error) if error.problems().is_empty() => Err(error),
            Err(error) => {
                problems.splice(0..0, error.problems().iter().cloned());
                Err(Error::validation(problems))
            }
        }
    }

    /// A scan whose answer is collected as rows: no types, and no more is said of it than of any search.
    #[must_use]
    pub fn of_rows(operation: &'static str, plan: impl Into<Plan>) -> Self {
        let plan = plan.into();
        Self {
            operation,
            chosen: 0..plan.requests(),
            is_task: false,
            is_ordered: true,
            limit: plan.template().limit,
            columns: Vec::new(),
            zone: None,
            plan: Arc::new(plan),
        }
    }

    /// How many requests it sends.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.chosen.len()
    }

    /// The body of one of them.
    #[must_use]
    pub fn body(&self, index: usize) -> SearchBody {
        self.plan.search(self.chosen.start + index).body
    }

    /// The names of its columns.
    #[must_use]
    pub fn attributes(&self) -> &[String] {
        &self.plan.template().attributes
    }

    /// The schema of its batches, where it is known before any came.
    #[must_use]
    pub fn schema(&self, views: bool) -> Option<SchemaRef> {
        columns::schema(&self.columns, views)
    }

    /// The same scan with the types that its columns came to, so that another answer has no others.
    #[must_use]
    pub fn frozen(&self, schema: &Schema) -> Self {
        Self { columns: columns::frozen(&self.columns, schema), ..self.clone() }
    }

    /// The same scan, for so many records at most.
    #[must_use]
    pub fn limited(&self, limit: Option<u64>) -> Self {
        Self { limit: [self.limit, limit].into_iter().flatten().min(), ..self.clone() }
    }

    /// The same scan, whose rows come in the order of the plan or as they come.
    #[must_use]
    pub fn ordered(self, is_ordered: bool) -> Self {
        Self { is_ordered, ..self }
    }

    /// One request of many, on its own.
    #[must_use]
    pub fn as_task(self) -> Self {
        Self { is_task: true, ..self }
    }

    /// One of its requests, on its own.
    #[must_use]
    pub fn task(&self, index: usize) -> Self {
        let start = self.chosen.start + index;
        Self { chosen: start..start + 1, is_task: true, ..self.clone() }
    }

    /// The name of a task: the same for the same request at the same place of its plan, whenever it is made.
    ///
    /// # Errors
    /// `Validation` where the scan has a limit, which no part of it can keep.
    pub fn task_id(&self, index: usize) -> Result<String> {
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let body = serde_json::to_vec(&self.body(index)).map_err(|error| {
            Error::new(Kind::Internal, "the request could not be written as JSON").with_source(error)
        })?;
        Ok(format!("{:05}-{:08x}", self.chosen.start + index, crc32fast::hash(&body)))
    }

    /// One of its requests, for so many records at most.
    fn part(&self, index: usize, limit: Option<u64>) -> PlannedRequest {
        let search = Search { limit, ..self.plan.search(self.chosen.start + index) };
        let day = self.zone.as_ref().and_then(|zone| Day::asked(&search.body, zone));
        PlannedRequest { search, day }
    }

    /// Where the times stand that tell whether rows are of the day asked for.
    fn time_column(&self) -> Option<usize> {
        self.zone.as_ref()?;
        self.attributes().iter().position(|name| name == REQUIRED_COLUMN)
    }

    /// How its requests are sent when their records count together, or not at all.
    fn collected(&self) -> SearchMode {
        // The batches of one response are taken as they come, and voided by a retry; of many, when each is complete.
        let delivery = if self.requests() > 1 { DeliveryMode::Complete } else { DeliveryMode::Provisional };
        let is_scan_request = self.is_task || self.requests() > 1;
        SearchMode { operation: self.operation, delivery, is_scan_request }
    }

    /// How its requests are sent when their records count as they come.
    fn streamed(&self) -> SearchMode {
        // Of many, a response no longer than a batch can be retried to its end.
        let held = usize::from(self.requests() > 1);
        let delivery = DeliveryMode::Streamed { held };
        SearchMode { operation: self.operation, delivery, is_scan_request: self.is_task || held > 0 }
    }
}

fn no_tasks() -> Error {
    Error::validation(vec![crate::error::Problem {
        argument: "limit".to_owned(),
        path: String::new(),
        message: "a scan with a limit has no tasks, as none of them knows of the rows of the others: leave limit out"
            .to_owned(),
        value: String::new(),
    }])
}
