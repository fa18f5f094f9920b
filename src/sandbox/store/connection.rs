//! Connections to the database: one that writes, and others that only search.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::vtab::array;
use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use super::BUSY_POLL;
use crate::error::{Error, Kind};

/// How long a search in memory waits for rows that are being written. In a file it does not wait.
const SEARCH_PATIENCE: Duration = Duration::from_secs(30);

/// Numbers the in-memory databases of this process.
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// A database in the memory of this process or in a file.
pub(super) struct Database {
    address: PathBuf,
    flags: OpenFlags,
}

impl Database {
    /// A new database in memory.
    pub(super) fn memory() -> Self {
        // The connections of this process share a memdb whose name begins with a slash.
        let address = format!("file:/sandbox-{}?vfs=memdb", DATABASES.fetch_add(1, Ordering::Relaxed));
        Self { address: address.into(), flags: OpenFlags::SQLITE_OPEN_URI }
    }

    /// The database of a file, by its full path.
    pub(super) fn file(address: PathBuf) -> Self {
        Self { address, flags: OpenFlags::SQLITE_OPEN_NOFOLLOW }
    }

    /// The connection that writes.
    pub(super) fn writer(&self) -> Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, BUSY_POLL)
    }

    /// A connection that only searches.
    pub(super) fn reader(&self) -> Result<Connection> {
        let reader = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY, SEARCH_PATIENCE)?;
        reader.pragma_update(None, "query_only", true)?;
        array::load_module(&reader)?;
        Ok(reader)
    }

    fn connect(&self, access: OpenFlags, patience: Duration) -> Result<Connection> {
        let flags = access | self.flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.address, flags)?;
        connection.busy_timeout(patience)?;
        // No sort files in a folder that others can read.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        Ok(connection)
    }
}

impl From<rusqlite::Error> for Error {
    /// Retryable messages are sent to clients, so they hold no details.
    fn from(cause: rusqlite::Error) -> Self {
        let error = |message: &str| Self::new(Kind::Sandbox, message);
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => {
                error("the sandbox's store is busy: rows are being written, or a response is still being read")
                    .with_hint("try again in a moment")
                    .retryable()
            }
            Some(ErrorCode::CannotOpen) => {
                error("the file of the sandbox's store cannot be opened; was it moved or deleted?")
                    .with_hint("put it back, or start another sandbox")
                    .retryable()
            }
            Some(ErrorCode::OperationInterrupted) => error("the search took too long and was ended").retryable(),
            _ => error(&format!("the sandbox's store failed: {cause}")),
        }
        .with_source(cause)
    }
}
