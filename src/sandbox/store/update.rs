//! Adds and changes rows as time passes, in one transaction. Rows of the user stay as they are.

use rusqlite::params_from_iter;

use super::{Store, catalog};
use crate::error::Result;
use crate::sandbox::objects::Cell;
use crate::sandbox::query::{column, stored};

impl Store {
    /// Adds rows, but those whose identifier is taken, and changes rows that are still as they were before.
    pub(in crate::sandbox) fn update(
        &self,
        object: &str,
        added: impl Iterator<Item = Vec<Cell>>,
        changed: impl Iterator<Item = (Vec<Cell>, Vec<Cell>)>,
    ) -> Result<()> {
        let object = self.named(object)?;
        let table = catalog::table(&object);
        let names: Vec<String> = (0..object.attributes.len()).map(column).collect();
        self.write(&self.stopping, |database| {
            let places = vec!["?"; names.len()].join(", ");
            let mut insert = database.prepare(&format!("INSERT OR IGNORE INTO {table} VALUES ({places})"))?;
            for row in added {
                insert.execute(params_from_iter(row.iter().map(stored)))?;
            }
            let after: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
            let before: Vec<String> = names.iter().map(|name| format!("{name} IS ?")).collect();
            let (after, before) = (after.join(", "), before.join(" AND "));
            let mut update = database.prepare(&format!("UPDATE {table} SET {after} WHERE {before}"))?;
            for (before, after) in changed {
                update.execute(params_from_iter(after.iter().chain(&before).map(stored)))?;
            }
            Ok(())
        })
    }
}
