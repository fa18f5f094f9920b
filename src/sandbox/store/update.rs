//! Adds and changes rows as time passes, in one transaction. Rows of the user stay as they are.

use rusqlite::params_from_iter;

use super::connection::failure;
use super::{Store, begin, commit, lock};
use crate::error::Result;
use crate::sandbox::objects::Cell;
use crate::sandbox::query::column;

impl Store {
    /// Adds rows, but those whose identifier is taken, and changes rows that are still as they were before.
    pub(in crate::sandbox) fn update(
        &self,
        object: &str,
        added: impl Iterator<Item = Vec<Cell>>,
        changed: impl Iterator<Item = (Vec<Cell>, Vec<Cell>)>,
    ) -> Result<()> {
        let table = self.named(object)?;
        let names: Vec<String> = (0..table.object.attributes.len()).map(column).collect();
        let writer = lock(&self.writer);
        let transaction = begin(writer.as_ref(), &self.stopping, "update")?;
        {
            let places = vec!["?"; names.len()].join(", ");
            let sql = format!("INSERT OR IGNORE INTO {} VALUES ({places})", table.name());
            let mut insert = transaction.prepare(&sql).map_err(failure("update"))?;
            for row in added {
                insert.execute(params_from_iter(row)).map_err(failure("update"))?;
            }
            let after: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
            let before: Vec<String> = names.iter().map(|name| format!("{name} IS ?")).collect();
            let (after, before) = (after.join(", "), before.join(" AND "));
            let sql = format!("UPDATE {} SET {after} WHERE {before}", table.name());
            let mut update = transaction.prepare(&sql).map_err(failure("update"))?;
            for (before, after) in changed {
                update.execute(params_from_iter(after.into_iter().chain(before))).map_err(failure("update"))?;
            }
        }
        commit(transaction, &self.stopping, "update")
    }
}
