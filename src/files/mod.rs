//! Rows into a file that appears only when complete: Parquet, CSV, JSON Lines.
//!
//! The libraries of Parquet and CSV are used here alone. The caller chooses the error kind of a failed write.

mod atomic;
mod csv;
mod footer;
mod json_lines;
mod location;
mod output;
mod parquet;
mod row_memory;
mod system;
mod temporary;

pub use self::atomic::{AtomicFile, Complete, Published};
pub use self::csv::{Csv, CsvOptions};
pub use self::footer::{Footer, Unreadable};
pub use self::json_lines::{JsonLines, Rewrite};
pub use self::location::Location;
pub use self::output::{Compression, Output};
pub use self::parquet::Parquet;
pub use self::row_memory::RowMemory;
pub use self::system::{failure, private_options, sync_folder};
pub use self::temporary::{metadata_of_new_file, remove_stale, temporary_files};

use std::path::Path;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::error::Result;

/// Runs work that blocks its thread for a short time. The other tasks of the thread move to others, where there are any.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) | Err(_) => work(),
        Ok(_) => block_in_place(work),
    }
}

/// The folder of an absolute path.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Writes batches of rows into an [`AtomicFile`]. Dropped unfinished, it leaves no file.
pub trait Writer: Send {
    /// Some rows.
    type Batch;

    /// Adds rows. After an error the file cannot be finished.
    fn write(&mut self, batch: &Self::Batch) -> Result<()>;

    /// Completes the file, which is not at its path yet.
    fn finish(self) -> Result<Complete>;
}
