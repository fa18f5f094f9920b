//! Scans: what a search asks for, as columns: streamed batch by batch, or collected whole.
//!
//! It decides what each column holds and what is said of an answer. It sends nothing itself, and spawns nothing:
//! whoever runs a scan brings the runtime.

mod collect;
mod day;
mod doubt;
mod schema;
mod stats;
mod stream;
mod watch;

use arrow::datatypes::{Schema, SchemaRef};

pub use collect::Collected;
pub use doubt::{Doubt, DoubtKind};
pub use stats::Stats;
pub use stream::{LastStats, Next, Stream};
pub use watch::{Seen, Taken};

use crate::columns::{self, Column};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::codes::REQUIRED_COLUMN;
use crate::contract::search::SearchBody;
use crate::error::{Error, Result};
use crate::filter::{Given, Search};
use crate::time::Zone;
use day::Day;

/// A search that was checked, and what its columns will hold.
#[derive(Clone, Debug)]
pub struct Scan {
    operation: &'static str,
    search: Search,
    columns: Vec<Column>,
    day: Option<Day>,
}

impl Scan {
    /// A scan of a search, with `schema=` as given. Times without a zone were read in `zone`.
    ///
    /// # Errors
    /// `Validation`, with every problem of the search and of the schema.
    pub fn try_new(operation: &'static str, search: Result<Search>, schema: &Given, zone: &Zone) -> Result<Self> {
        let known = search.as_ref().ok().map(|search| search.attributes.as_slice());
        let (types, mut problems) = schema::check(schema, known);
        match search {
            Ok(search) if problems.is_empty() => {
                let is_code = search.body.item_type_id == PROMOTION_CODE_ID;
                let columns = if is_code { columns::codes } else { columns::items }(&search.attributes, &types);
                let day = is_code.then(|| Day::asked(&search.body, zone)).flatten();
                Ok(Self { operation, search, columns, day })
            }
            Ok(_) => Err(Error::validation(problems)),
            Err(error) if error.problems().is_empty() => Err(error),
            Err(error) => {
                problems.splice(0..0, error.problems().iter().cloned());
                Err(Error::validation(problems))
            }
        }
    }

    /// A search whose answer is collected as rows: no types, and no more is said of it than of any search.
    #[must_use]
    pub fn of_rows(operation: &'static str, search: Search) -> Self {
        Self { operation, search, columns: Vec::new(), day: None }
    }

    /// The body it sends.
    #[must_use]
    pub fn body(&self) -> &SearchBody {
        &self.search.body
    }

    /// The names of its columns.
    #[must_use]
    pub fn attributes(&self) -> &[String] {
        &self.search.attributes
    }

    /// The schema of its batches, where it is known before any came.
    #[must_use]
    pub fn schema(&self, views: bool) -> Option<SchemaRef> {
        columns::schema(&self.columns, views)
    }

    /// The same scan with the types that its columns came to, so that another answer has no others.
    #[must_use]
    pub fn settled(&self, schema: &Schema) -> Self {
        Self { columns: columns::settled(&self.columns, schema), ..self.clone() }
    }

    /// The same scan, for so many records at most.
    #[must_use]
    pub fn limited(&self, limit: Option<u64>) -> Self {
        let mut scan = self.clone();
        scan.search.limit = [self.search.limit, limit].into_iter().flatten().min();
        scan
    }

    /// Where the times stand that tell whether rows are of the day asked for.
    fn time_column(&self) -> Option<usize> {
        self.day?;
        self.attributes().iter().position(|name| name == REQUIRED_COLUMN)
    }
}
