//! What a caller chooses of a run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::report::FileReport;
use crate::files::Location;
use crate::filter::InputValue;
use crate::scan::data_warning::DataWarningKind;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of the parts.
    pub folder: Location,
    /// The service.
    pub service: Service,
    /// The days that are asked for once more: `refresh=` as the caller gave it.
    pub refresh: InputValue,
    /// The days whose responses are taken as they are, also where they look wrong: `accept=` as the caller gave it.
    pub accept: InputValue,
    /// How long the rows of a day may still change after its end.
    pub settle: Duration,
    /// What happens to a response whose data look wrong.
    pub on_doubt: OnDoubt,
    /// Whether parts have a column with the time of their request.
    pub requested_at: bool,
}

/// The service whose rows a folder has. Rows of another service are not mixed with them.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its address, or the name of the sandbox.
    pub address: String,
    /// Whether it is known to be a sandbox.
    pub is_synthetic: bool,
    /// Whether parts from another address are of the same service.
    pub same_service: bool,
}

/// What happens to a response that is complete and whose data look wrong, before it replaces anything.
#[derive(Clone)]
pub enum OnDoubt {
    /// It is written, and the report warns; but a file of which it has less than half stays. The task fails if a
    /// warning of these kinds would be an error.
    Warn(BTreeSet<DataWarningKind>),
    /// The task fails.
    Error,
    /// A function decides on each response. If it refuses, the task fails.
    Ask(Ask),
}

/// Whether a response may be written.
pub type Ask = Arc<dyn Fn(FileReport) -> BoxFuture<'static, bool> + Send + Sync>;

impl fmt::Debug for OnDoubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Warn(_) => "Warn",
            Self::Error => "Error",
            Self::Ask(_) => "Ask",
        })
    }
}
