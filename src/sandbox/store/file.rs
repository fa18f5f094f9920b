//! Opens a database file: readable by its owner only, and verified to be a sandbox store before any write.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, MAIN_DB, TransactionBehavior};

use super::catalog;
use super::connection::{Database, failure};
use crate::error::{Error, Kind, Result};

/// Marks a database as a store of the sandbox: `dacc` in ASCII.
const APPLICATION_ID: i32 = 0x6461_6363;
/// Version of the tables; a store of another version is refused.
const SCHEMA_VERSION: i32 = 1;

/// Opens a database file for writing, if it is empty or a sandbox store.
pub(super) fn open(path: &Path) -> Result<(Database, Connection)> {
    let location = location(path)?;
    let mut writer = location.writer()?;
    if writer.is_readonly(MAIN_DB).map_err(failure("open"))? {
        return Err(refused(path, "may not be written"));
    }
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|cause| match cause
        .sqlite_error_code()
    {
        Some(ErrorCode::NotADatabase) => foreign(path),
        _ => failure("open")(cause),
    })?;
    let number = |pragma: &str| transaction.pragma_query_value(None, pragma, |row| row.get(0)).map_err(failure("open"));
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failure("open"))?;
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION_ID, SCHEMA_VERSION) => {}
        (APPLICATION_ID, version) => {
            let problem = format!("is a store of version {version}; this package reads version {SCHEMA_VERSION}");
            return Err(refused(path, &problem));
        }
        (0, 0) if tables == 0 => {
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failure("open"))?;
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(failure("open"))?;
            catalog::create(&transaction)?;
        }
        _ => return Err(foreign(path)),
    }
    transaction.commit().map_err(failure("open"))?;
    // With WAL, readers see the last committed state while rows are written.
    writer.pragma_update(None, "journal_mode", "WAL").map_err(failure("open"))?;
    writer.pragma_update(None, "synchronous", "NORMAL").map_err(failure("open"))?;
    Ok((location, writer))
}

/// The location of a file, which is created when missing.
fn location(path: &Path) -> Result<Database> {
    let text = path.to_string_lossy();
    if text == ":memory:" || text.starts_with("file:") {
        return Err(refused(path, "is the address of a database, not the path of a file")
            .with_hint("give a plain path, or leave out db to keep all in memory"));
    }
    let full = full_path(path)?;
    match fs::symlink_metadata(&full) {
        Ok(found) if found.is_file() => Ok(Database::File(full)),
        Ok(found) if found.is_symlink() => Err(refused(path, "is a symbolic link, which is not followed")),
        Ok(_) => Err(refused(path, "is not a file")),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            create(&full).map_err(|cause| refused(path, &format!("cannot be created: {cause}")).with_source(cause))?;
            Ok(Database::File(full))
        }
        Err(cause) => Err(refused(path, &format!("cannot be read: {cause}")).with_source(cause)),
    }
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
