//! Rows on their way into the store: gathered in a database of their own, then written at once, all or none.
//!
//! While they are gathered the store is neither locked nor kept open, so whoever gives them may take his time,
//! and may even search it, load into it or stop it.

use std::sync::Arc;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, Row, Statement, params_from_iter};
use tokio_util::sync::CancellationToken;

use super::connection::failure;
use super::{Store, Table, begin, check, commit, lock};
use crate::error::{Error, Kind, Result, excerpt};
use crate::sandbox::objects::Cell;
use crate::sandbox::query::column;

/// Rows for one object that no search can find yet.
pub(in crate::sandbox) struct Gathered {
    table: Arc<Table>,
    rows: Connection,
    count: usize,
    /// Cancelled when the store is to be closed, or nobody wants the rows any more.
    ended: CancellationToken,
}

impl Store {
    /// Begins to gather rows for an object.
    pub(in crate::sandbox) fn gather(&self, object: &str) -> Result<Gathered> {
        let table = self.named(object)?;
        let rows = self.place.aside()?;
        let names: Vec<String> = (0..table.object.attributes.len()).map(column).collect();
        // The transaction never ends: what is gathered is of no use to anybody else.
        rows.execute_batch(&format!("CREATE TABLE gathered ({}); BEGIN", names.join(", "))).map_err(failure("load"))?;
        Ok(Gathered { table, rows, count: 0, ended: self.stopping.child_token() })
    }

    /// Writes what was gathered. A row whose identifier is taken is an error, or takes the place of the other one.
    pub(in crate::sandbox) fn write(&self, gathered: &Gathered, replaces: bool) -> Result<usize> {
        let writer = lock(&self.writer);
        let transaction = begin(writer.as_ref(), &gathered.ended, "load")?;
        gathered.table.check_in(&transaction)?;
        gathered.copy_to(&transaction, replaces)?;
        commit(transaction, &gathered.ended, "load")?;
        Ok(gathered.count)
    }

    /// Gathers rows and writes them; the number of rows is the answer.
    pub(in crate::sandbox) fn load(&self, object: &str, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<usize> {
        let mut gathered = self.gather(object)?;
        gathered.add(rows)?;
        self.write(&gathered, false)
    }
}

impl Gathered {
    /// The object that the rows are for.
    pub(in crate::sandbox) fn table(&self) -> &Table {
        &self.table
    }

    /// What ends the load when it is cancelled.
    pub(in crate::sandbox) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Adds rows, each checked.
    pub(in crate::sandbox) fn add(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
        let mut insert = insert(&self.rows, "INSERT INTO", "gathered", self.table.object.attributes.len())?;
        for row in rows {
            check(&self.ended)?;
            self.table.object.check_row(self.count, &row)?;
            insert.execute(params_from_iter(&row)).map_err(failure("load"))?;
            self.count += 1;
        }
        check(&self.ended)
    }

    fn copy_to(&self, store: &Connection, replaces: bool) -> Result<()> {
        let width = self.table.object.attributes.len();
        let verb = if replaces { "INSERT OR REPLACE INTO" } else { "INSERT INTO" };
        let mut insert = insert(store, verb, &self.table.name(), width)?;
        let mut select = self.rows.prepare("SELECT * FROM gathered ORDER BY rowid").map_err(failure("load"))?;
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

impl Table {
    /// Refuses to write rows for an object that was declared anew since.
    fn check_in(&self, store: &Connection) -> Result<()> {
        if super::catalog::read(store)?.iter().any(|known| known.number == self.number) {
            return Ok(());
        }
        let problem = format!("object `{}` was declared anew while rows for it were gathered", self.object.name);
        Err(Error::new(Kind::Sandbox, problem).with_hint("load them again"))
    }
}

fn insert<'a>(into: &'a Connection, verb: &str, table: &str, width: usize) -> Result<Statement<'a>> {
    let places = vec!["?"; width].join(", ");
    into.prepare(&format!("{verb} {table} VALUES ({places})")).map_err(failure("load"))
}

fn copy(row: &Row<'_>, width: usize, insert: &mut Statement<'_>) -> rusqlite::Result<()> {
    for place in 0..width {
        insert.raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(row.get_ref(place)?))?;
    }
    insert.raw_execute().map(drop)
}
