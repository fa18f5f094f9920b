//! The store: business objects and their rows in a `SQLite` database, in memory or in a file.
//!
//! One connection writes; the others only search.

mod catalog;
mod connection;
mod file;
mod load;
mod update;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Row, ToSql, Transaction, TransactionBehavior, params_from_iter};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::connection::Database;
pub(super) use self::load::Load;
use super::objects::BusinessObject;
use super::query::{Query, column, joined};
use super::rows::RowWriter;
use super::stopped;
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::error::{Error, Kind, Result, defect, excerpt};

/// `SQLite` steps between two checks whether a search should stop: well below a millisecond.
const PROGRESS_STEPS: i32 = 10_000;
/// How long a write waits: for another process that writes to the same file, or for a response from memory.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a write checks meanwhile whether it was cancelled.
const BUSY_POLL: Duration = Duration::from_millis(50);

/// The objects and their rows.
pub(super) struct Store {
    database: Database,
    /// None once the store is closed.
    writer: Mutex<Option<Connection>>,
    readers: Mutex<Vec<Connection>>,
    /// Cancelled when the store begins to close.
    pub(super) stopping: CancellationToken,
}

impl Store {
    /// Opens the store of a file, or an empty one in memory. Cancelling `stopping` aborts writes.
    pub(super) fn open(path: Option<&Path>, stopping: CancellationToken) -> Result<Self> {
        let database = path.map_or_else(|| Ok(Database::memory()), file::database)?;
        let writer = database.writer()?;
        file::prepare(&writer, path.unwrap_or_else(|| Path::new("memory")))?;
        Ok(Self { database, writer: Mutex::new(Some(writer)), readers: Mutex::default(), stopping })
    }

    /// Declares an object. Declaring it again changes nothing; one without rows can be replaced.
    pub(super) fn declare(&self, object: &BusinessObject) -> Result<()> {
        object.check()?;
        let refused = |problem: &str| Err(Error::new(Kind::Sandbox, format!("object `{}`: {problem}", object.name)));
        self.write(&self.stopping, |database| {
            let objects = catalog::read(database)?;
            match objects.iter().find(|known| known.id == object.id || known.name == object.name) {
                Some(known) if known == object => return Ok(()),
                Some(known) if (known.id, &known.name) != (object.id, &object.name) => {
                    let (id, name) = (known.id, &known.name);
                    return refused(&format!("its name or its id {} is taken by `{name}` with id {id}", object.id));
                }
                // The attributes of promotion codes are fixed by the specification.
                Some(known) if known.id == PROMOTION_CODE_ID || has_rows(database, known)? => {
                    return refused("it is declared already with other attributes");
                }
                Some(known) => catalog::remove(database, known)?,
                None => {}
            }
            catalog::add(database, object)
        })
    }

    /// Deletes all rows of an object and returns their number.
    pub(super) fn clear(&self, name: &str) -> Result<usize> {
        let sql = format!("DELETE FROM {}", catalog::table(&self.named(name)?));
        self.write(&self.stopping, |database| Ok(database.execute(&sql, [])?))
    }

    /// The object of this name.
    pub(super) fn named(&self, name: &str) -> Result<BusinessObject> {
        let objects = self.objects()?;
        objects.iter().find(|object| object.name == name).cloned().ok_or_else(|| {
            let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
            Error::new(Kind::Sandbox, format!("business object `{}` is not declared", excerpt(name, 60)))
                .with_hint(format!("known: {}; add it with declare()", names.join(", ")))
        })
    }

    /// All objects, in the order of their declaration. Another process may have declared them in the same file.
    pub(super) fn objects(&self) -> Result<Vec<BusinessObject>> {
        self.read(|reader| catalog::read(reader))
    }

    /// The number of rows of an object.
    pub(super) fn count(&self, object: &BusinessObject) -> Result<i64> {
        let sql = format!("SELECT count(*) FROM {}", catalog::table(object));
        self.read(|reader| Ok(reader.query_row(&sql, [], |row| row.get(0))?))
    }

    /// Removes all objects with their rows, and adds these without rows.
    pub(super) fn reset(&self, objects: &[BusinessObject]) -> Result<()> {
        self.write(&self.stopping, |database| {
            catalog::read(database)?.iter().try_for_each(|object| catalog::remove(database, object))?;
            objects.iter().try_for_each(|object| catalog::add(database, object))
        })
    }

    /// Rows of an object with a text in one of their values, from the one numbered `offset` on, and the number of all
    /// such rows.
    pub(super) fn rows(&self, name: &str, limit: usize, offset: usize, contains: &str) -> Result<(Vec<Value>, i64)> {
        let object = self.named(name)?;
        let columns: Vec<String> = (0..object.attributes.len()).map(column).collect();
        let found: Vec<String> = columns.iter().map(|each| format!("instr(lower({each}), lower(?1))")).collect();
        let from = format!("FROM {} WHERE {}", catalog::table(&object), joined(&found, "OR", "0"));
        let select = format!("SELECT {} {from} ORDER BY a0 LIMIT {limit} OFFSET {offset}", columns.join(", "));
        let mut writer = RowWriter::new(object.attributes.iter().map(|each| each.name.as_str()));
        let mut written = b"[".to_vec();
        let total = self.read(|reader| {
            each_row(reader, &select, &[contains], |row| writer.write(row, &mut written))?;
            Ok(reader.query_row(&format!("SELECT count(*) {from}"), [contains], |row| row.get(0))?)
        })?;
        written.push(b']');
        Ok((serde_json::from_slice(&written).map_err(|_| defect("rows are no JSON"))?, total))
    }

    /// Calls `each` for every matching row, until it fails or `should_stop` returns true.
    pub(super) fn search(
        &self,
        object: &BusinessObject,
        query: Query,
        should_stop: impl FnMut() -> bool + Send + 'static,
        each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.read(|reader| {
            reader.progress_handler(PROGRESS_STEPS, Some(should_stop))?;
            let (sql, parameters) = query.statement(&catalog::table(object));
            each_row(reader, &sql, &parameters, each)?;
            Ok(reader.progress_handler(0, None::<fn() -> bool>)?)
        })
    }

    /// Closes the database after aborting writes, so that its file is complete.
    pub(super) fn close(&self) {
        self.stopping.cancel();
        lock(&self.readers).clear();
        *lock(&self.writer) = None;
    }

    /// Reads with a connection of its own, which is kept for the next unless it failed or the store is closing.
    fn read<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let idle = lock(&self.readers).pop();
        let mut reader = idle.map_or_else(|| self.database.reader(), Ok)?;
        let found = work(&mut reader)?;
        let mut readers = lock(&self.readers);
        if !self.stopping.is_cancelled() {
            readers.push(reader);
        }
        Ok(found)
    }

    /// Writes in one transaction: all of a step, or nothing when it fails or is cancelled.
    fn write<T>(&self, ended: &CancellationToken, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let writer = lock(&self.writer);
        let writer = writer.as_ref().ok_or_else(stopped)?;
        let begin = || Transaction::new_unchecked(writer, TransactionBehavior::Immediate);
        let transaction = retry_while_busy(ended, begin)?;
        let done = work(&transaction)?;
        retry_while_busy(ended, || transaction.execute_batch("COMMIT"))?;
        Ok(done)
    }
}

fn has_rows(database: &Connection, object: &BusinessObject) -> rusqlite::Result<bool> {
    database.prepare(&format!("SELECT 1 FROM {}", catalog::table(object)))?.exists([])
}

fn each_row(
    reader: &Connection,
    sql: &str,
    parameters: &[impl ToSql],
    mut each: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut select = reader.prepare(sql)?;
    let mut rows = select.query(params_from_iter(parameters))?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

/// Retries a step while the database is busy, until it is cancelled.
fn retry_while_busy<T>(ended: &CancellationToken, attempt: impl Fn() -> rusqlite::Result<T>) -> Result<T> {
    let since = Instant::now();
    loop {
        check(ended)?;
        match attempt() {
            Err(cause)
                if cause.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && since.elapsed() < BUSY_TIMEOUT => {}
            outcome => return Ok(outcome?),
        }
    }
}

/// Fails once cancelled.
fn check(ended: &CancellationToken) -> Result<()> {
    if ended.is_cancelled() { Err(stopped()) } else { Ok(()) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
