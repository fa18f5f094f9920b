//! Loads rows: gathers valid ones, then writes them in one transaction.
//!
//! Gathering locks nothing: meanwhile the caller can search the store, load other rows into it or stop it.

use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, params_from_iter};
use tokio_util::sync::CancellationToken;

use super::{Store, catalog, check};
use crate::error::{Error, Kind, Result, defect};
use crate::sandbox::objects::{BusinessObject, Cell, shown};
use crate::sandbox::query::stored;
use crate::sandbox::reply::json;

/// Rows to be added to an object: all by `finish`, or none.
pub(in crate::sandbox) struct Load {
    store: Arc<Store>,
    object: BusinessObject,
    /// The valid rows as lines of JSON, which take a fraction of the memory of cells.
    rows: Vec<u8>,
    count: usize,
    /// Cancelled when the store closes or the load is dropped.
    ended: CancellationToken,
}

impl Load {
    /// Begins to gather rows for an object. It is abandoned when `ended` is cancelled.
    pub(in crate::sandbox) fn begin(store: &Arc<Store>, object: &str, ended: &CancellationToken) -> Result<Self> {
        let ended = ended.clone();
        let object = store.named(object)?;
        Ok(Self { store: Arc::clone(store), object, rows: Vec::new(), count: 0, ended })
    }

    /// Adds rows, each with one cell for each declared attribute.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit, or when the sandbox was stopped.
    pub(in crate::sandbox) fn add(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
        for row in rows {
            check(&self.ended)?;
            self.object.check_row(self.count, &row)?;
            self.rows.extend_from_slice(json(&row).as_bytes());
            self.count += 1;
        }
        check(&self.ended)
    }

    /// Writes the rows to the object and returns their number. With `replaces` a row replaces an earlier one with
    /// the same identifier.
    ///
    /// # Errors
    /// `Sandbox` that names the row whose identifier is taken, or when the sandbox was stopped.
    pub(in crate::sandbox) fn finish(self, replaces: bool) -> Result<usize> {
        self.store.write(&self.ended, |database| {
            if !catalog::read(database)?.contains(&self.object) {
                let problem = format!("object `{}` was declared again while rows for it were loaded", self.object.name);
                return Err(Error::new(Kind::Sandbox, problem).with_hint("load them again"));
            }
            self.insert_into(database, replaces)
        })
    }

    fn insert_into(&self, database: &Connection, replaces: bool) -> Result<usize> {
        let verb = if replaces { "INSERT OR REPLACE" } else { "INSERT" };
        let places = vec!["?"; self.object.attributes.len()].join(", ");
        let sql = format!("{verb} INTO {} VALUES ({places})", catalog::table(&self.object));
        let mut insert = database.prepare(&sql)?;
        for (number, row) in serde_json::Deserializer::from_slice(&self.rows).into_iter::<Vec<Cell>>().enumerate() {
            check(&self.ended)?;
            let row = row.map_err(|cause| defect("a gathered row cannot be read").with_source(cause))?;
            insert.execute(params_from_iter(row.iter().map(stored))).map_err(|cause| {
                match cause.sqlite_error_code() {
                    Some(ErrorCode::ConstraintViolation) => self.taken(number, &row),
                    _ => cause.into(),
                }
            })?;
        }
        Ok(self.count)
    }

    fn taken(&self, number: usize, row: &[Cell]) -> Error {
        let identifier = row.first().map(shown).unwrap_or_default();
        let problem = format!("its identifier {identifier} is taken");
        let hint = "a load that replaces puts such rows in the place of the present ones";
        self.object.refusal(number, &problem).with_hint(hint)
    }
}
