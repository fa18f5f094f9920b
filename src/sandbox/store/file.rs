//! Opens a database file: readable by its owner only, and verified to be a sandbox store before any write.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, MAIN_DB, Transaction, TransactionBehavior};

use super::catalog;
use super::connection::Database;
use crate::error::{Error, Kind, Result};

/// Marks a database as a store of the sandbox: `dacc` in ASCII.
const APPLICATION_ID: i32 = 0x6461_6363;
/// Version of the tables; a store of another version is refused.
const SCHEMA_VERSION: i32 = 1;

/// The database of a file, which is created when missing.
pub(super) fn database(path: &Path) -> Result<Database> {
    let text = path.to_string_lossy();
    if text == ":memory:" || text.starts_with("file:") {
        return Err(refused(path, "is the address of a database, not the path of a file")
            .with_hint("give a plain path, or leave out db to keep all in memory"));
    }
    let full = full_path(path)?;
    match fs::symlink_metadata(&full) {
        Ok(found) if found.is_file() => {}
        Ok(found) if found.is_symlink() => return Err(refused(path, "is a symbolic link, which is not followed")),
        Ok(_) => return Err(refused(path, "is not a file")),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            create(&full).map_err(|cause| refused(path, &format!("cannot be created: {cause}")).with_source(cause))?;
        }
        Err(cause) => return Err(refused(path, &format!("cannot be read: {cause}")).with_source(cause)),
    }
    Ok(Database::file(full))
}

/// Makes an empty database a sandbox store, and refuses any other that is none before it is changed.
pub(super) fn prepare(writer: &Connection, path: &Path) -> Result<()> {
    if writer.is_readonly(MAIN_DB)? {
        return Err(refused(path, "may not be written"));
    }
    let transaction = Transaction::new_unchecked(writer, TransactionBehavior::Immediate).map_err(|cause| {
        if cause.sqlite_error_code() == Some(ErrorCode::NotADatabase) { foreign(path) } else { cause.into() }
    })?;
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get(0));
    let tables: i32 = number("SELECT count(*) FROM sqlite_schema")?;
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (APPLICATION_ID, SCHEMA_VERSION) => {}
        (APPLICATION_ID, version) => {
            let problem = format!("is a store of version {version}; this package reads version {SCHEMA_VERSION}");
            return Err(refused(path, &problem));
        }
        (0, 0) if tables == 0 => {
            let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}");
            transaction.execute_batch(&format!("{marks}; {}", catalog::CREATE))?;
        }
        _ => return Err(foreign(path)),
    }
    transaction.commit()?;
    // In a file, searches see the last committed state while rows are written; memory has no WAL.
    writer.pragma_update(None, "journal_mode", "WAL")?;
    Ok(writer.pragma_update(None, "synchronous", "NORMAL")?)
}

/// The path with symbolic links of its folders resolved.
fn full_path(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| refused(path, "names no file"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let folder = fs::canonicalize(folder)
        .map_err(|cause| refused(path, &format!("is in a folder that cannot be used: {cause}")).with_source(cause))?;
    Ok(folder.join(name))
}

/// Creates an empty file that only its owner can read and write; `SQLite` gives its WAL files the same mode.
fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn foreign(path: &Path) -> Error {
    refused(path, "is not a sandbox store; it was not changed").with_hint("name another file, or a new one")
}

fn refused(path: &Path, problem: &str) -> Error {
    Error::new(Kind::Sandbox, format!("db: `{}` {problem}", path.display()))
}
