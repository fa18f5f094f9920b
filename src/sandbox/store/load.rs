//! Loads rows: stages them in a temporary database, then copies them in one transaction.
//!
//! Staging locks nothing: meanwhile the caller can search the store, load other rows into it or stop it.

use std::fmt;
use std::sync::Arc;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, Row, Statement, params_from_iter};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::failure;
use super::{Store, Table, begin, check, commit, lock};
use crate::error::{Error, Kind, Result, excerpt};
use crate::sandbox::objects::{BusinessObject, Cell};
use crate::sandbox::query::column;

/// Rows to be added to an object of a [`Sandbox`](crate::sandbox::Sandbox): all by `finish`, or none.
pub struct Load {
    store: Arc<Store>,
    table: Arc<Table>,
    rows: Connection,
    count: usize,
    /// Cancelled when the store closes or the load is dropped.
    ended: CancellationToken,
}

impl Load {
    /// Begins to stage rows for an object. It is abandoned when `ended` is cancelled.
    pub(in crate::sandbox) fn begin(
        store: &Arc<Store>,
        object: &str,
        ended: Option<&CancellationToken>,
    ) -> Result<Self> {
        let table = store.named(object)?;
        let rows = store.location.staging()?;
        let names: Vec<String> = (0..table.object.attributes.len()).map(column).collect();
        // Never committed: only this connection reads the staged rows.
        rows.execute_batch(&format!("CREATE TABLE staged ({}); BEGIN", names.join(", "))).map_err(failure("load"))?;
        let ended = ended.cloned().unwrap_or_else(|| store.stopping.child_token());
        let store = Arc::clone(store);
        Ok(Self { store, table, rows, count: 0, ended })
    }

    /// The object as it is declared.
    #[must_use]
    pub fn object(&self) -> &BusinessObject {
        &self.table.object
    }

    /// Adds rows, each with one cell for each declared attribute.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit, or when the sandbox was stopped.
    pub fn add(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
        let mut insert = insert(&self.rows, "INSERT INTO", "staged", self.table.object.attributes.len())?;
        for row in rows {
            check(&self.ended)?;
            self.table.object.check_row(self.count, &row)?;
            insert.execute(params_from_iter(&row)).map_err(failure("load"))?;
            self.count += 1;
        }
        check(&self.ended)
    }

    /// Writes the rows to the object and returns their number. With `replaces` a row replaces an earlier one with
    /// the same identifier.
    ///
    /// # Errors
    /// `Sandbox` that names the row whose identifier is taken, or when the sandbox was stopped.
    pub fn finish(self, replaces: bool) -> Result<usize> {
        let writer = lock(&self.store.writer);
        let transaction = begin(writer.as_ref(), &self.ended, "load")?;
        self.table.check_in(&transaction)?;
        self.copy_to(&transaction, replaces)?;
        commit(transaction, &self.ended, "load")?;
        Ok(self.count)
    }

    /// A guard that cancels the load when dropped; rows already committed stay.
    #[must_use]
    pub fn cancel_on_drop(&self) -> DropGuard {
        self.ended.clone().drop_guard()
    }

    fn copy_to(&self, store: &Connection, replaces: bool) -> Result<()> {
        let width = self.table.object.attributes.len();
        let verb = if replaces { "INSERT OR REPLACE INTO" } else { "INSERT INTO" };
        let mut insert = insert(store, verb, &self.table.name(), width)?;
        let mut select = self.rows.prepare("SELECT * FROM staged ORDER BY rowid").map_err(failure("load"))?;
        let mut rows = select.query([]).map_err(failure("load"))?;
        let mut number = 0;
        while let Some(row) = rows.next().map_err(failure("load"))? {
            check(&self.ended)?;
            copy(row, width, &mut insert).map_err(|cause| match cause.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => self.taken(number, row),
                _ => failure("load")(cause),
            })?;
            number += 1;
        }
        Ok(())
    }

    fn taken(&self, number: usize, row: &Row<'_>) -> Error {
        let identifier = row.get_ref(0).ok().and_then(|value| value.as_str().ok().map(ToOwned::to_owned));
        let identifier = identifier.or_else(|| row.get::<_, f64>(0).ok().map(|number| number.to_string()));
        let shown = excerpt(&identifier.unwrap_or_default(), 60);
        let hint = "replace=True puts such rows in the place of those that are there";
        self.table.object.refusal(number, &format!("its identifier `{shown}` is taken")).with_hint(hint)
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Load").field("object", &self.object().name).finish_non_exhaustive()
    }
}

impl Table {
    /// Rejects rows of an object that was declared again since.
    fn check_in(&self, store: &Connection) -> Result<()> {
        if super::catalog::read(store)?.iter().any(|known| known.number == self.number) {
            return Ok(());
        }
        let problem = format!("object `{}` was declared again while rows for it were loaded", self.object.name);
        Err(Error::new(Kind::Sandbox, problem).with_hint("load them again"))
    }
}

fn insert<'a>(into: &'a Connection, verb: &str, table: &str, width: usize) -> Result<Statement<'a>> {
    let places = vec!["?"; width].join(", ");
    into.prepare(&format!("{verb} {table} VALUES ({places})")).map_err(failure("load"))
}

fn copy(row: &Row<'_>, width: usize, insert: &mut Statement<'_>) -> rusqlite::Result<()> {
    for index in 0..width {
        insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(row.get_ref(index)?))?;
    }
    insert.raw_execute().map(drop)
}
