//! Rows into a file that comes to be whole or not at all: Parquet, CSV, JSON Lines.
//!
//! Alone names the libraries of Parquet and CSV. Knows no requests; as what a failure is told, its caller says.

mod atomic;
mod csv;
mod failure;
mod json_lines;
mod parquet;
mod private;
mod written;

pub use self::atomic::{AtomicFile, remove_stale};
pub use self::csv::Csv;
pub use self::failure::failure;
pub use self::json_lines::JsonLines;
pub use self::parquet::Parquet;
pub use self::private::private;
pub use self::written::{Written, sha256};

use crate::error::Result;

/// Writes batches of rows into a [`AtomicFile`].
pub trait Writer: Send {
    /// Some rows.
    type Batch;

    /// Adds rows.
    ///
    /// # Errors
    /// The draft cannot be written. It cannot be finished then.
    fn write(&mut self, batch: &Self::Batch) -> Result<()>;

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    /// The draft cannot be written or put there. Its place is as before.
    fn finish(self) -> Result<Written>;
}
