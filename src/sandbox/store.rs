//! The store: business objects and their rows in an in-memory `SQLite` database.
//!
//! One connection writes, others only read and are guarded against anything but a plain search.
//! It knows no wire shapes, tokens or exports.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::objects::{BusinessObject, Cell};
use super::query::{Query, column};
use super::rows::RowWriter;
use crate::error::{Error, Kind, Result};

/// How long a search waits for a load to finish, and the other way round.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Tells the databases of one process apart.
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// The objects and their rows.
pub(super) struct Store {
    address: String,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    tables: RwLock<Vec<Arc<Table>>>,
}

/// An object with the table that holds its rows.
pub(super) struct Table {
    pub(super) object: BusinessObject,
    name: String,
}

impl Store {
    /// An empty store.
    pub(super) fn open() -> Result<Self> {
        // A name that begins with a slash is shared by the connections of this process, and nobody else.
        let address = format!("file:/sandbox-{}?vfs=memdb", DATABASES.fetch_add(1, Ordering::Relaxed));
        let writer = connection(&address, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // Memory does not outlive the process: there is nothing a journal on disk could save.
        writer.pragma_update(None, "journal_mode", "MEMORY").map_err(failure("open"))?;
        writer.pragma_update(None, "synchronous", "OFF").map_err(failure("open"))?;
        Ok(Self { address, writer: Mutex::new(writer), readers: Mutex::default(), tables: RwLock::default() })
    }

    /// Adds an object without rows.
    pub(super) fn declare(&self, object: BusinessObject) -> Result<()> {
        object.check()?;
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.iter().any(|table| table.object.id == object.id || table.object.name == object.name) {
            let known = format!("object `{}`: its name or its id {} is declared already", object.name, object.id);
            return Err(Error::new(Kind::Sandbox, known));
        }
        let name = format!("item_{}", tables.len());
        // Columns without a type keep each value as it is: the text '10' never becomes the number 10.
        let columns: Vec<String> = (0..object.attributes.len()).map(column).collect();
        let sql = format!("CREATE TABLE {name} ({}, PRIMARY KEY ({})) WITHOUT ROWID", columns.join(", "), column(0));
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).execute(&sql, []).map_err(failure("declare"))?;
        tables.push(Arc::new(Table { object, name }));
        Ok(())
    }

    /// Adds rows to an object, all or none; the number of rows is the answer.
    pub(super) fn load(&self, object: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<usize> {
        let table = self.find(|known| known.name == object).ok_or_else(|| {
            Error::new(Kind::Sandbox, format!("object `{object}` is not declared, so no rows can be loaded"))
        })?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = writer.transaction().map_err(failure("load"))?;
        let places = vec!["?"; table.object.attributes.len()].join(", ");
        let sql = format!("INSERT INTO {} VALUES ({places})", table.name);
        let mut insert = transaction.prepare(&sql).map_err(failure("load"))?;
        let mut count = 0;
        for row in rows {
            table.object.check_row(count, &row)?;
            insert.execute(params_from_iter(&row)).map_err(|cause| match cause.sqlite_error_code() {
                Some(rusqlite::ErrorCode::ConstraintViolation) => {
                    Error::new(Kind::Sandbox, format!("object `{object}`, row {count}: its identifier is taken"))
                }
                _ => failure("load")(cause),
            })?;
            count += 1;
        }
        drop(insert);
        transaction.commit().map_err(failure("load"))?;
        Ok(count)
    }

    /// The first object of which something is true.
    pub(super) fn find(&self, is_it: impl Fn(&BusinessObject) -> bool) -> Option<Arc<Table>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.iter().find(|table| is_it(&table.object)).map(Arc::clone)
    }

    /// Writes the records found as JSON objects divided by commas; their number is the answer.
    pub(super) fn search(&self, table: &Table, query: Query, out: &mut Vec<u8>) -> Result<usize> {
        let reader = self.reader()?;
        let names = query.attributes.iter().filter_map(|place| table.object.attributes.get(*place));
        let mut writer = RowWriter::new(names.map(|attribute| attribute.name.as_str()));
        let count = {
            let statement = query.statement(&table.name);
            let mut select = reader.prepare_cached(&statement.sql).map_err(failure("search"))?;
            let mut rows = select.query(params_from_iter(&statement.parameters)).map_err(failure("search"))?;
            while let Some(row) = rows.next().map_err(failure("search"))? {
                writer.write(row, out).map_err(failure("search"))?;
            }
            writer.rows()
        };
        // A connection that failed is dropped instead of being kept.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        Ok(count)
    }

    fn reader(&self) -> Result<Connection> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| read_only(&self.address), Ok)
    }
}

/// A connection that can do nothing but search.
fn read_only(address: &str) -> Result<Connection> {
    let mut reader = connection(address, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    reader.pragma_update(None, "query_only", true).map_err(failure("open"))?;
    reader
        .authorizer(Some(|context: AuthContext<'_>| match context.action {
            AuthAction::Select | AuthAction::Read { .. } => Authorization::Allow,
            _ => Authorization::Deny,
        }))
        .map_err(failure("open"))?;
    Ok(reader)
}

/// A connection with every feature off that a search does not need.
fn connection(address: &str, access: OpenFlags) -> Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags).map_err(failure("open"))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failure("open"))?;
    for (setting, value) in [
        // With these two on, an unknown column would silently be read as a text.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(setting, value).map_err(failure("open"))?;
    }
    Ok(connection)
}

/// The error of a step; what `SQLite` said is its cause and is never sent to a client.
fn failure(step: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |cause| {
        let busy = cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy);
        let error =
            Error::new(Kind::Sandbox, format!("the sandbox's store failed to {step}: {cause}")).with_source(cause);
        if busy { error.retryable() } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_connection_can_do_nothing_but_search() {
        let store = Store::open().unwrap();
        store.declare(BusinessObject::customer()).unwrap();
        store.load("customer", [vec!["1".into(), "n".into()]]).unwrap();
        let reader = store.reader().unwrap();
        let count = |sql: &str| reader.query_row(sql, [], |row| row.get::<_, String>(0));
        assert_eq!(
            count("SELECT a1 FROM item_0 WHERE a0 IN (SELECT value FROM json_each('[\"1\"]'))"),
            Ok("n".to_owned())
        );
        for sql in [
            "DELETE FROM item_0",
            "INSERT INTO item_0 VALUES ('2', 'x')",
            "DROP TABLE item_0",
            "CREATE TABLE other (a0)",
            "ATTACH ':memory:' AS other",
            "PRAGMA query_only = 0",
            "SELECT load_extension('x')",
        ] {
            assert!(reader.prepare(sql).and_then(|mut statement| statement.raw_execute()).is_err(), "{sql}");
        }
        assert!(count("SELECT \"nosuch\" FROM item_0").is_err(), "an unknown column is never a text");
    }

    #[test]
    fn two_stores_know_nothing_of_each_other() {
        let (first, second) = (Store::open().unwrap(), Store::open().unwrap());
        first.declare(BusinessObject::customer()).unwrap();
        assert!(second.find(|object| object.name == "customer").is_none());
        second.declare(BusinessObject::customer()).unwrap();
    }
}
