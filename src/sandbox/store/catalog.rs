//! The declared objects in the database, each with a table of its rows.

use rusqlite::Connection;

use crate::error::{Error, Kind, Result};
use crate::sandbox::objects::BusinessObject;
use crate::sandbox::query::column;
use crate::sandbox::reply::json;

/// Creates the table of objects.
pub(super) const CREATE: &str = "CREATE TABLE object (json TEXT NOT NULL)";

/// All objects, in the order of their declaration.
pub(super) fn read(connection: &Connection) -> Result<Vec<BusinessObject>> {
    let mut select = connection.prepare_cached("SELECT json FROM object ORDER BY rowid")?;
    let objects = select.query_map([], |row| row.get::<_, String>(0))?.map(|object| {
        serde_json::from_str(&object?).map_err(|cause| {
            Error::new(Kind::Sandbox, "the sandbox's store is damaged: an object cannot be read").with_source(cause)
        })
    });
    objects.collect()
}

/// Adds an object with an empty table.
pub(super) fn add(connection: &Connection, object: &BusinessObject) -> Result<()> {
    connection.execute("INSERT INTO object VALUES (?1)", [json(object)])?;
    // Columns without a type store values unchanged: the string '10' never becomes the number 10.
    let columns: Vec<String> = (0..object.attributes.len()).map(column).collect();
    let (table, columns, identifier) = (table(object), columns.join(", "), column(0));
    let sql = format!("CREATE TABLE {table} ({columns}, PRIMARY KEY ({identifier})) WITHOUT ROWID");
    Ok(connection.execute_batch(&sql)?)
}

/// Removes an object and its rows.
pub(super) fn remove(connection: &Connection, object: &BusinessObject) -> Result<()> {
    connection.execute("DELETE FROM object WHERE json = ?1", [json(object)])?;
    Ok(connection.execute_batch(&format!("DROP TABLE {}", table(object)))?)
}

/// The table with the rows of an object.
pub(super) fn table(object: &BusinessObject) -> String {
    format!("\"item_{}\"", object.id)
}
