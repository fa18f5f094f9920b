//! The store: business objects and their rows in a `SQLite` database, in memory or in a file.
//!
//! One connection writes, others only read and are guarded against anything but a plain search.
//! It knows no wire shapes, tokens or exports.

mod catalog;
mod connection;
mod file;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior, params_from_iter};

use self::connection::{Place, failure};
use super::objects::{BusinessObject, Cell};
use super::query::Query;
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::error::{Error, Kind, Result, excerpt};

/// Steps of the database between two looks at whether a search should end: well below a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// The objects and their rows.
pub(super) struct Store {
    place: Place,
    /// None once the store is closed.
    writer: Mutex<Option<Connection>>,
    readers: Mutex<Vec<Connection>>,
    tables: RwLock<Vec<Arc<Table>>>,
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
    /// The store of a file with what it holds, or an empty one in memory.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let (place, writer) = if let Some(path) = path {
            file::open(path)?
        } else {
            let place = Place::memory();
            let writer = place.writer()?;
            catalog::create(&writer)?;
            (place, writer)
        };
        let tables = RwLock::new(shared(catalog::read(&writer)?));
        Ok(Self { place, writer: Mutex::new(Some(writer)), readers: Mutex::default(), tables })
    }

    /// Adds an object without rows. The same again changes nothing; one without rows may be declared anew.
    pub(super) fn declare(&self, object: &BusinessObject) -> Result<()> {
        object.check()?;
        let mut writer = lock(&self.writer);
        let transaction = begin(&mut writer, "declare")?;
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
        transaction.commit().map_err(failure("declare"))?;
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(())
    }

    /// Adds rows to an object, all or none; the number of rows is the answer.
    pub(super) fn load(&self, object: &str, rows: impl IntoIterator<Item = Result<Vec<Cell>>>) -> Result<usize> {
        let table = self.named(object)?;
        let mut writer = lock(&self.writer);
        let transaction = begin(&mut writer, "load")?;
        let places = vec!["?"; table.object.attributes.len()].join(", ");
        let sql = format!("INSERT INTO {} VALUES ({places})", table.name());
        let mut insert = transaction.prepare(&sql).map_err(failure("load"))?;
        let mut count = 0;
        for row in rows {
            let row = row?;
            table.object.check_row(count, &row)?;
            insert.execute(params_from_iter(&row)).map_err(|cause| match cause.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => {
                    let identifier = excerpt(&row.first().map(|cell| format!("{cell:?}")).unwrap_or_default(), 60);
                    let taken = format!("object `{object}`, row {count}: its identifier {identifier} is taken");
                    Error::new(Kind::Sandbox, taken)
                }
                _ => failure("load")(cause),
            })?;
            count += 1;
        }
        drop(insert);
        transaction.commit().map_err(failure("load"))?;
        Ok(count)
    }

    /// The object of this name.
    pub(super) fn named(&self, name: &str) -> Result<Arc<Table>> {
        self.find(|object| object.name == name)?.ok_or_else(|| {
            let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
            let names: Vec<&str> = tables.iter().map(|table| table.object.name.as_str()).collect();
            Error::new(Kind::Sandbox, format!("object `{}` is not declared", excerpt(name, 60)))
                .with_hint(format!("declared are {}", names.join(", ")))
        })
    }

    /// The first object of which something is true.
    pub(super) fn find(&self, is_it: impl Fn(&BusinessObject) -> bool) -> Result<Option<Arc<Table>>> {
        let known = |tables: &[Arc<Table>]| tables.iter().find(|table| is_it(&table.object)).map(Arc::clone);
        let found = known(&self.tables.read().unwrap_or_else(PoisonError::into_inner));
        if found.is_some() || matches!(self.place, Place::Memory(_)) {
            return Ok(found);
        }
        // Another process may have declared it in the same file.
        let reader = self.reader()?;
        let tables = shared(catalog::read(&reader)?);
        lock(&self.readers).push(reader);
        let found = known(&tables);
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(found)
    }

    /// Hands the rows found to `each`, one by one, until it fails or `is_enough` says so.
    pub(super) fn search(
        &self,
        table: &Table,
        query: Query,
        is_enough: impl FnMut() -> bool + Send + 'static,
        mut each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.reader()?;
        reader.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_enough)).map_err(failure("search"))?;
        {
            let statement = query.statement(&table.name());
            let mut select = reader.prepare_cached(&statement.sql).map_err(failure("search"))?;
            let mut rows = select.query(params_from_iter(&statement.parameters)).map_err(failure("search"))?;
            while let Some(row) = rows.next().map_err(failure("search"))? {
                each(row)?;
            }
        }
        reader.progress_handler(0, None::<fn() -> bool>).map_err(failure("search"))?;
        // A connection that failed is dropped instead of being kept.
        lock(&self.readers).push(reader);
        Ok(())
    }

    /// Closes the database, so that a file of it is whole; a load under way keeps it open until its end.
    pub(super) fn close(&self) {
        lock(&self.readers).clear();
        if let Ok(mut writer) = self.writer.try_lock() {
            *writer = None;
        }
    }

    fn reader(&self) -> Result<Connection> {
        let idle = lock(&self.readers).pop();
        idle.map_or_else(|| self.place.reader(), Ok)
    }
}

/// Whether an object may take the place of another: one of the same name and id that is not in use.
fn may_replace(transaction: &Transaction<'_>, table: &Table, object: &BusinessObject) -> Result<bool> {
    let same = table.object.id == object.id && table.object.name == object.name;
    // The attributes of promotion codes are those of the document.
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

fn begin<'a>(writer: &'a mut MutexGuard<'_, Option<Connection>>, step: &'static str) -> Result<Transaction<'a>> {
    let writer = writer.as_mut().ok_or_else(|| Error::new(Kind::Sandbox, "this sandbox was stopped"))?;
    writer.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failure(step))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shared(tables: Vec<Table>) -> Vec<Arc<Table>> {
    tables.into_iter().map(Arc::new).collect()
}
