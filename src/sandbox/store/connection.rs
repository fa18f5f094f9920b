//! Connections to the database: one that writes, and others that can only search.
//!
//! `SQLite` features that the store does not need are off.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{Error, Kind, Result};

/// How long a search waits for a writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Numbers the in-memory databases of this process.
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// Where a database is.
pub(super) enum Database {
    /// In the memory of this process, under a name.
    Memory(String),
    /// In a file, by its full path.
    File(PathBuf),
}

impl Database {
    /// A new database in memory.
    pub(super) fn memory() -> Self {
        // The connections of this process share a memdb whose name begins with a slash.
        Self::Memory(format!("file:/sandbox-{}?vfs=memdb", DATABASES.fetch_add(1, Ordering::Relaxed)))
    }

    /// The connection that writes.
    pub(super) fn writer(&self) -> Result<Connection> {
        let writer = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        if let Self::Memory(_) = self {
            // An in-memory database does not survive a crash anyway.
            writer.pragma_update(None, "journal_mode", "MEMORY").map_err(failure("open"))?;
            writer.pragma_update(None, "synchronous", "OFF").map_err(failure("open"))?;
        }
        Ok(writer)
    }

    /// A temporary database for rows to be loaded; it is deleted with its connection.
    pub(super) fn staging(&self) -> Result<Connection> {
        let opened = match self {
            Self::Memory(_) => Connection::open_in_memory(),
            // `SQLite` keeps an unnamed database in memory while small, then in a deleted temporary file.
            Self::File(_) => Connection::open(""),
        };
        let staging = opened.map_err(failure("load"))?;
        staging.pragma_update(None, "journal_mode", "OFF").map_err(failure("load"))?;
        Ok(staging)
    }

    /// A connection that can only search.
    pub(super) fn reader(&self) -> Result<Connection> {
        let mut reader = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        reader.pragma_update(None, "query_only", true).map_err(failure("open"))?;
        reader.authorizer(Some(allow_searches_only)).map_err(failure("open"))?;
        Ok(reader)
    }

    fn connect(&self, access: OpenFlags) -> Result<Connection> {
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match self {
            Self::Memory(address) => Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI),
            Self::File(path) => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW),
        };
        let connection = opened.map_err(failure("open"))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failure("open"))?;
        // No sort files in a folder that others can read.
        connection.pragma_update(None, "temp_store", "MEMORY").map_err(failure("open"))?;
        for (setting, value) in [
            // With these two on, an unknown column would be read as a string literal.
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        ] {
            connection.set_db_config(setting, value).map_err(failure("open"))?;
        }
        Ok(connection)
    }
}

fn allow_searches_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Function { function_name: "count" | "substr" | "unhex" } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// The error of a step, with the `SQLite` error as its cause. Retryable messages are sent to clients, so they hold no
/// details.
pub(super) fn failure(step: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |cause| {
        let error = |message: String| Error::new(Kind::Sandbox, message);
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => {
                let problem = "the sandbox's store is busy: rows are being written, or a response is still being read";
                error(problem.to_owned()).with_hint("try again in a moment").retryable()
            }
            Some(ErrorCode::CannotOpen) => {
                let problem = "the file of the sandbox's store cannot be opened; was it moved or deleted?";
                error(problem.to_owned()).with_hint("put it back, or start another sandbox").retryable()
            }
            Some(ErrorCode::OperationInterrupted) => {
                error("the search took too long and was ended".to_owned()).retryable()
            }
            _ => error(format!("the sandbox's store failed to {step}: {cause}")),
        }
        .with_source(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: &str = "SELECT a1 FROM item_0 WHERE a0 IN (SELECT value FROM json_each('[\"1\"]'))";
    const WRITE: &str = "DELETE FROM item_0";

    fn location() -> (Database, Connection) {
        let location = Database::memory();
        let writer = location.writer().unwrap();
        writer.execute_batch("CREATE TABLE item_0 (a0, a1); INSERT INTO item_0 VALUES ('1', 'n')").unwrap();
        (location, writer)
    }

    fn text(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
        connection.query_row(sql, [], |row| row.get(0))
    }

    /// Why a statement, which must fail, is refused.
    #[track_caller]
    fn refusal(connection: &Connection, sql: &str) -> rusqlite::Error {
        connection.prepare(sql).and_then(|mut statement| statement.raw_execute()).unwrap_err()
    }

    #[test]
    fn a_reader_can_do_nothing_but_search() {
        let (location, _writer) = location();
        let reader = location.reader().unwrap();
        assert_eq!(text(&reader, SEARCH), Ok("n".to_owned()));
        for sql in [
            WRITE,
            "INSERT INTO item_0 VALUES ('2', 'x')",
            "DROP TABLE item_0",
            "CREATE TABLE other (a0)",
            "ATTACH ':memory:' AS other",
            "PRAGMA query_only = 0",
            "SELECT load_extension('x')",
            "SELECT readfile('/etc/hostname')",
        ] {
            refusal(&reader, sql);
        }
        assert!(text(&reader, "SELECT \"nosuch\" FROM item_0").is_err(), "an unknown column is never a text");
    }

    #[test]
    fn each_guard_of_a_reader_holds_without_the_others() {
        let (location, mut writer) = location();
        let mut reader = location.reader().unwrap();
        reader.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).unwrap();
        assert_eq!(reader.pragma_query_value(None, "query_only", |row| row.get(0)), Ok(true));
        reader.pragma_update(None, "query_only", false).unwrap();
        assert_eq!(refusal(&reader, WRITE).sqlite_error_code(), Some(ErrorCode::ReadOnly));
        assert_eq!(text(&writer, SEARCH), Ok("n".to_owned()));
        writer.authorizer(Some(allow_searches_only)).unwrap();
        assert_eq!(refusal(&writer, WRITE).sqlite_error_code(), Some(ErrorCode::AuthorizationForStatementDenied));
    }

    #[test]
    fn every_connection_has_off_what_it_does_not_need_and_sorts_in_memory() {
        let (location, writer) = location();
        for connection in [writer, location.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()] {
            let is_on = |setting| connection.db_config(setting).unwrap();
            assert!(is_on(DbConfig::SQLITE_DBCONFIG_DEFENSIVE));
            assert!(!is_on(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA));
            assert!(!is_on(DbConfig::SQLITE_DBCONFIG_DQS_DML) && !is_on(DbConfig::SQLITE_DBCONFIG_DQS_DDL));
            assert_eq!(connection.pragma_query_value(None, "temp_store", |row| row.get(0)), Ok(2));
        }
    }
}
