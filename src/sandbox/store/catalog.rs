//! The declared objects in the database, each with a table of its rows.

use rusqlite::{Connection, params};

use super::Table;
use super::connection::failure;
use crate::error::{Error, Kind, Result};
use crate::sandbox::objects::{Attribute, AttributeKind, BusinessObject};
use crate::sandbox::query::column;

/// Creates the table of objects.
pub(super) fn create(connection: &Connection) -> Result<()> {
    // AUTOINCREMENT: a cached statement of a dropped table must not read a new one.
    let sql = "CREATE TABLE object (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id INTEGER NOT NULL UNIQUE,
        name TEXT NOT NULL UNIQUE,
        attributes TEXT NOT NULL
    ) STRICT";
    connection.execute(sql, []).map(drop).map_err(failure("open"))
}

/// All objects.
pub(super) fn read(connection: &Connection) -> Result<Vec<Table>> {
    let sql = "SELECT number, id, name, attributes FROM object ORDER BY number";
    let mut select = connection.prepare_cached(sql).map_err(failure("open"))?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?)));
    let tables = rows.map_err(failure("open"))?.map(|row| {
        let (number, id, name, attributes) = row.map_err(failure("open"))?;
        let attributes = read_attributes(&attributes).ok_or_else(|| {
            Error::new(Kind::Sandbox, format!("the sandbox's store is damaged: object `{name}` cannot be read"))
        })?;
        Ok(Table { object: BusinessObject { id, name, attributes }, number })
    });
    tables.collect()
}

/// Adds an object with an empty table.
pub(super) fn add(connection: &Connection, object: &BusinessObject) -> Result<()> {
    let kinds: Vec<_> = object.attributes.iter().map(|each| (&each.name, each.kind.data_type())).collect();
    let sql = "INSERT INTO object (id, name, attributes) VALUES (?1, ?2, ?3)";
    connection
        .execute(sql, params![object.id, object.name, crate::sandbox::reply::json(&kinds)])
        .map_err(failure("declare"))?;
    let name = table_name(connection.last_insert_rowid());
    // Columns without a type store values unchanged: the string '10' never becomes the number 10.
    let columns: Vec<String> = (0..object.attributes.len()).map(column).collect();
    let sql = format!("CREATE TABLE {name} ({}, PRIMARY KEY ({})) WITHOUT ROWID", columns.join(", "), column(0));
    connection.execute(&sql, []).map(drop).map_err(failure("declare"))
}

/// Removes an object and its rows.
pub(super) fn remove(connection: &Connection, table: &Table) -> Result<()> {
    connection.execute("DELETE FROM object WHERE number = ?1", [table.number]).map_err(failure("declare"))?;
    connection.execute(&format!("DROP TABLE {}", table.name()), []).map(drop).map_err(failure("declare"))
}

/// Whether an object has no rows.
pub(super) fn is_empty(connection: &Connection, table: &Table) -> Result<bool> {
    let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", table.name());
    connection.query_row(&sql, [], |row| row.get(0)).map_err(failure("declare"))
}

/// Name of the table with the rows of an object.
pub(super) fn table_name(number: i64) -> String {
    format!("item_{number}")
}

fn read_attributes(json: &str) -> Option<Vec<Attribute>> {
    let kinds: Vec<(String, String)> = serde_json::from_str(json).ok()?;
    let attribute =
        |(name, kind): (String, String)| AttributeKind::from_data_type(&kind).map(|kind| Attribute { name, kind });
    kinds.into_iter().map(attribute).collect()
}
