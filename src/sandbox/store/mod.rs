//! The store: business objects and their rows in a `SQLite` database, in memory or in a file.
//!
//! One connection writes; the others are restricted to plain searches.

mod catalog;
mod connection;
mod file;
mod load;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior, params_from_iter};
use tokio_util::sync::CancellationToken;

use self::connection::{Database, failure};
pub use self::load::Load;
use super::objects::BusinessObject;
use super::query::Query;
use super::stopped;
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::error::{Error, Kind, Result, excerpt};

/// `SQLite` steps between two checks whether a search should stop: well below a millisecond.
const PROGRESS_STEPS: i32 = 10_000;
/// Longest SQL that a connection caches as a prepared statement: a large request may have megabytes of it.
const CACHED_SQL: usize = 4 * 1024;
/// How long a write waits for others, as of another process that writes to the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it checks meanwhile whether it was cancelled.
const BUSY_POLL: Duration = Duration::from_millis(50);

/// The objects and their rows.
pub(super) struct Store {
    location: Database,
    /// None once the store is closed.
    writer: Mutex<Option<Connection>>,
    readers: Mutex<Vec<Connection>>,
    tables: RwLock<Vec<Arc<Table>>>,
    /// Cancelled when the store begins to close.
    pub(super) stopping: CancellationToken,
}

/// An object with the table that holds its rows.
pub(super) struct Table {
    pub(super) object: BusinessObject,
    number: i64,
}

impl Table {
    fn name(&self) -> String {
        catalog::table_name(self.number)
    }
}

impl Store {
    /// Opens the store of a file, or an empty one in memory. Cancelling `stopping` aborts writes.
    pub(super) fn open(path: Option<&Path>, stopping: CancellationToken) -> Result<Self> {
        let (location, writer) = if let Some(path) = path {
            file::open(path)?
        } else {
            let location = Database::memory();
            let writer = location.writer()?;
            catalog::create(&writer)?;
            (location, writer)
        };
        writer.busy_timeout(BUSY_POLL).map_err(failure("open"))?;
        let tables = RwLock::new(shared(catalog::read(&writer)?));
        Ok(Self { location, writer: Mutex::new(Some(writer)), readers: Mutex::default(), tables, stopping })
    }

    /// Declares an object. Declaring it again changes nothing; one without rows can be replaced.
    pub(super) fn declare(&self, object: &BusinessObject) -> Result<()> {
        object.check()?;
        let writer = lock(&self.writer);
        let transaction = begin(writer.as_ref(), &self.stopping, "declare")?;
        let known = catalog::read(&transaction)?;
        match known.iter().find(|table| table.object.id == object.id || table.object.name == object.name) {
            Some(table) if table.object == *object => {}
            Some(table) if may_replace(&transaction, table, object)? => {
                catalog::remove(&transaction, table)?;
                catalog::add(&transaction, object)?;
            }
            Some(table) => return Err(declared(&table.object, object)),
            None => catalog::add(&transaction, object)?,
        }
        let tables = shared(catalog::read(&transaction)?);
        commit(transaction, &self.stopping, "declare")?;
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(())
    }

    /// Deletes all rows of an object and returns their number.
    pub(super) fn clear(&self, object: &str) -> Result<usize> {
        let table = self.named(object)?;
        let writer = lock(&self.writer);
        let transaction = begin(writer.as_ref(), &self.stopping, "clear")?;
        let sql = format!("DELETE FROM {}", table.name());
        let count = transaction.execute(&sql, []).map_err(failure("clear"))?;
        commit(transaction, &self.stopping, "clear")?;
        Ok(count)
    }

    /// All objects, each with the number of its rows.
    pub(super) fn objects(&self) -> Result<Vec<(BusinessObject, i64)>> {
        let reader = self.reader()?;
        let rows = |table: Table| {
            let count = format!("SELECT count(*) FROM {}", table.name());
            let rows = reader.query_row(&count, [], |row| row.get(0)).map_err(failure("count"))?;
            Ok((table.object, rows))
        };
        let objects = catalog::read(&reader)?.into_iter().map(rows).collect::<Result<_>>()?;
        self.keep(reader);
        Ok(objects)
    }

    /// Removes all objects with their rows, and adds these without rows.
    pub(super) fn reset(&self, objects: &[BusinessObject]) -> Result<()> {
        let writer = lock(&self.writer);
        let transaction = begin(writer.as_ref(), &self.stopping, "reset")?;
        for table in catalog::read(&transaction)? {
            catalog::remove(&transaction, &table)?;
        }
        for object in objects {
            catalog::add(&transaction, object)?;
        }
        let tables = shared(catalog::read(&transaction)?);
        commit(transaction, &self.stopping, "reset")?;
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(())
    }

    /// The object of this name.
    pub(super) fn named(&self, name: &str) -> Result<Arc<Table>> {
        self.find(|object| object.name == name)?.ok_or_else(|| {
            let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
            let names: Vec<&str> = tables.iter().map(|table| table.object.name.as_str()).collect();
            Error::new(Kind::Sandbox, format!("business object `{}` is not declared", excerpt(name, 60)))
                .with_hint(format!("known: {}; add it with declare()", names.join(", ")))
        })
    }

    /// The first object for which the predicate holds.
    pub(super) fn find(&self, predicate: impl Fn(&BusinessObject) -> bool) -> Result<Option<Arc<Table>>> {
        let known = |tables: &[Arc<Table>]| tables.iter().find(|table| predicate(&table.object)).map(Arc::clone);
        let found = known(&self.tables.read().unwrap_or_else(PoisonError::into_inner));
        if found.is_some() || matches!(self.location, Database::Memory(_)) {
            return Ok(found);
        }
        // Another process may have declared it in the same file.
        let reader = self.reader()?;
        let tables = shared(catalog::read(&reader)?);
        self.keep(reader);
        let found = known(&tables);
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(found)
    }

    /// Calls `each` for every matching row, until it fails or `should_stop` returns true.
    pub(super) fn search(
        &self,
        table: &Table,
        query: Query,
        should_stop: impl FnMut() -> bool + Send + 'static,
        mut each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.reader()?;
        reader.progress_handler(PROGRESS_STEPS, Some(should_stop)).map_err(failure("search"))?;
        {
            let statement = query.statement(&table.name());
            let (mut kept, mut dropped);
            let select: &mut rusqlite::Statement<'_> = if statement.sql.len() <= CACHED_SQL {
                kept = reader.prepare_cached(&statement.sql).map_err(failure("search"))?;
                &mut kept
            } else {
                dropped = reader.prepare(&statement.sql).map_err(failure("search"))?;
                &mut dropped
            };
            let mut rows = select.query(params_from_iter(&statement.parameters)).map_err(failure("search"))?;
            while let Some(row) = rows.next().map_err(failure("search"))? {
                each(row)?;
            }
        }
        reader.progress_handler(0, None::<fn() -> bool>).map_err(failure("search"))?;
        // A connection that failed is dropped instead of being kept.
        self.keep(reader);
        Ok(())
    }

    /// Closes the database after aborting writes, so that its file is complete.
    pub(super) fn close(&self) {
        self.stopping.cancel();
        lock(&self.readers).clear();
        *lock(&self.writer) = None;
    }

    fn reader(&self) -> Result<Connection> {
        let idle = lock(&self.readers).pop();
        idle.map_or_else(|| self.location.reader(), Ok)
    }

    /// Returns a reader to the pool, unless the store is closing.
    fn keep(&self, reader: Connection) {
        if !self.stopping.is_cancelled() {
            lock(&self.readers).push(reader);
        }
    }
}

/// Whether an object can replace another: same name and id, and without rows.
fn may_replace(transaction: &Transaction<'_>, table: &Table, object: &BusinessObject) -> Result<bool> {
    let same = table.object.id == object.id && table.object.name == object.name;
    // The attributes of promotion codes are fixed by the specification.
    Ok(same && object.id != PROMOTION_CODE_ID && catalog::is_empty(transaction, table)?)
}

fn declared(known: &BusinessObject, object: &BusinessObject) -> Error {
    let problem = if known.id == object.id && known.name == object.name {
        "it is declared already with other attributes".to_owned()
    } else {
        format!("its name or its id {} is taken by `{}` with id {}", object.id, known.name, known.id)
    };
    Error::new(Kind::Sandbox, format!("object `{}`: {problem}", object.name))
}

fn begin<'a>(writer: Option<&'a Connection>, ended: &CancellationToken, step: &'static str) -> Result<Transaction<'a>> {
    check(ended)?;
    let writer = writer.ok_or_else(stopped)?;
    retry_while_busy(ended, step, || Transaction::new_unchecked(writer, TransactionBehavior::Immediate))
}

#[expect(clippy::needless_pass_by_value, reason = "dropping a failed transaction rolls it back")]
fn commit(transaction: Transaction<'_>, ended: &CancellationToken, step: &'static str) -> Result<()> {
    check(ended)?;
    retry_while_busy(ended, step, || transaction.execute_batch("COMMIT"))
}

/// Retries a step while the database is busy.
fn retry_while_busy<T>(
    ended: &CancellationToken,
    step: &'static str,
    attempt: impl Fn() -> rusqlite::Result<T>,
) -> Result<T> {
    let since = Instant::now();
    loop {
        match attempt() {
            Err(cause)
                if cause.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && since.elapsed() < BUSY_TIMEOUT =>
            {
                check(ended)?;
            }
            outcome => return outcome.map_err(failure(step)),
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

fn shared(tables: Vec<Table>) -> Vec<Arc<Table>> {
    tables.into_iter().map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rusqlite::hooks::{AuthContext, Authorization};

    use super::*;
    use crate::sandbox::query::{Comparison, Predicate};
    use crate::sandbox::switches::RowOrder;

    /// How often the second of two equal searches calls the authorizer, which `SQLite` does while preparing a statement.
    fn steps_of_the_second_search(conditions: usize) -> usize {
        let store = Store::open(None, CancellationToken::new()).unwrap();
        store.declare(&BusinessObject::customer()).unwrap();
        let mut reader = store.reader().unwrap();
        let steps = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&steps);
        let count = move |_: AuthContext<'_>| {
            seen.fetch_add(1, Ordering::Relaxed);
            Authorization::Allow
        };
        reader.authorizer(Some(count)).unwrap();
        store.keep(reader);
        let search = || {
            let among = |_| vec![Predicate { attribute: 1, comparison: Comparison::Among("[\"a\"]".to_owned(), None) }];
            let groups = (0..conditions).map(among).collect();
            let query = Query { attributes: vec![0], groups, order: RowOrder::Id, limit: None };
            store.search(&store.named("customer").unwrap(), query, || false, |_| Ok(())).unwrap();
            steps.swap(0, Ordering::Relaxed)
        };
        assert!(search() > 0);
        search()
    }

    #[test]
    fn a_large_statement_is_not_cached() {
        assert_eq!(steps_of_the_second_search(3), 0);
        assert!(steps_of_the_second_search(1_000) > 0);
    }
}
