//! A folder of this machine.
//!
//! Readers of datasets (pyarrow, pandas, Spark) skip names that begin with `_` or `.` and read every other file as rows;
//! this module does the same.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};

use super::error::{failure, missing, refused};
use super::lock::Lock;
use super::name::day_folder;
use super::{HIDDEN, Names, PartName, is_hidden, names, unreadable};
use crate::error::{Kind, Result};
use crate::files::{AtomicFile, Footer, metadata_of_new_file, remove_stale, sync_folder};

/// A folder of this machine.
#[derive(Debug)]
pub(super) struct Local {
    path: PathBuf,
    /// None for a reader.
    writer: Option<(Access, Lock)>,
}

impl Local {
    pub(super) fn open(folder: &Path) -> Result<(Self, Names)> {
        let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        make(&path)?;
        let access = Access::of_new_files(&path)?;
        // A link to the folder is the user's own.
        access.check(&path, &fs::metadata(&path).map_err(|cause| failure(&path, "inspected", cause))?)?;
        // Before anything is put into a folder of other files, and below, once no other run adds parts.
        names(&path, visible(&path)?)?;
        let hidden = path.join(HIDDEN);
        access.check_path(&hidden)?;
        make(&hidden)?;
        let lock = Lock::take(&path, &hidden, &access)?;
        // Of runs that were killed; the folder itself may have the temporary file of one.
        [&path, &hidden].into_iter().try_for_each(|folder| remove_stale(folder, Kind::FolderFile))?;
        let names = names(&path, visible(&path)?)?;
        Ok((Self { path, writer: Some((access, lock)) }, names))
    }

    pub(super) fn read_only(folder: &Path) -> Result<(Self, Names)> {
        let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        if let Err(cause) = fs::metadata(&path) {
            let errno = cause.raw_os_error();
            return Err(match cause.kind() {
                ErrorKind::NotFound => missing(&path, "does not exist").with(|details| details.errno = errno),
                _ => failure(&path, "inspected", cause),
            });
        }
        let names = names(&path, visible(&path)?)?;
        Ok((Self { path, writer: None }, names))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn files_of_day(&self, day: &str) -> Result<Vec<String>> {
        let folder = self.path.join(day_folder(day));
        self.check(&folder)?;
        visible(&folder)
    }

    pub(super) fn part(&self, name: &PartName) -> Result<Footer> {
        let path = self.path.join(name.path());
        self.check(&path)?;
        Footer::open(&path).map_err(|cause| unreadable(&path, cause))
    }

    pub(super) fn create(&self, name: &PartName) -> Result<AtomicFile> {
        let hidden = self.path.join(HIDDEN);
        AtomicFile::staged(&self.path.join(name.path()), &hidden, Kind::FolderFile)
    }

    /// What it holds now.
    pub(super) fn names(&self) -> Result<Names> {
        names(&self.path, visible(&self.path)?)
    }

    /// The names in the hidden folder.
    pub(super) fn hidden(&self) -> Result<Vec<String>> {
        all_names(&self.path.join(HIDDEN))
    }

    /// Makes an empty file in the hidden folder, durably.
    pub(super) fn add_hidden(&self, name: &str) -> Result<()> {
        let path = self.path.join(HIDDEN).join(name);
        let made =
            File::create(&path).and_then(|file| file.sync_all()).and_then(|()| sync_folder(&self.path.join(HIDDEN)));
        made.map_err(|cause| failure(&path, "written", cause))
    }

    pub(super) fn remove_hidden(&self, name: &str) -> Result<()> {
        let path = self.path.join(HIDDEN).join(name);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => Err(failure(&path, "removed", cause)),
            _ => Ok(()),
        }
    }

    fn check(&self, path: &Path) -> Result<()> {
        self.writer.as_ref().map_or(Ok(()), |(access, _)| access.check_path(path))
    }
}

/// Creates a folder, unless it exists.
fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|cause| failure(folder, "made", cause))
}

/// The names that a reader would read; none of a folder that does not exist.
fn visible(folder: &Path) -> Result<Vec<String>> {
    let mut names = all_names(folder)?;
    names.retain(|name| !is_hidden(name));
    Ok(names)
}

/// All names in a folder, sorted; none of one that does not exist.
fn all_names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|cause| failure(folder, "read", cause))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names: io::Result<Vec<String>> = entries.map(name).collect();
    let mut names = names.map_err(|cause| failure(folder, "read", cause))?;
    names.sort();
    Ok(names)
}

/// Who may write to the files that this process makes.
#[derive(Debug)]
pub(super) struct Access {
    /// On a network disk, files of root may belong to another user.
    #[cfg(unix)]
    owner: u32,
    /// The umask gives these bits of a mode to new files.
    #[cfg(unix)]
    writers: u32,
}

impl Access {
    /// By a new file in a folder.
    fn of_new_files(folder: &Path) -> Result<Self> {
        let found = metadata_of_new_file(folder).map_err(|cause| failure(folder, "written to", cause))?;
        #[cfg(unix)]
        return Ok(Self { owner: found.uid(), writers: found.mode() & 0o022 });
        #[cfg(not(unix))]
        return Ok(Self {});
    }

    /// Refuses symbolic links, files of other users, and files that are more widely writable than the umask allows:
    /// others could plant rows in them.
    fn check(&self, path: &Path, found: &Metadata) -> Result<()> {
        if found.is_symlink() {
            let problem = "is a symbolic link, which is not followed";
            return Err(refused(path, problem).with_hint("remove it and run again"));
        }
        #[cfg(unix)]
        {
            let (mode, owner) = (found.mode() & 0o7777, found.uid());
            if mode & 0o022 & !self.writers != 0 {
                let problem = format!("can be written by other users: its mode is {mode:04o}");
                return Err(refused(path, &problem).with_hint(format!("run chmod go-w {}", path.display())));
            }
            if owner != self.owner {
                let problem =
                    format!("belongs to user {owner}, but new files of this process belong to user {}", self.owner);
                let remedy = format!("name another folder, or run chown {} {}", self.owner, path.display());
                return Err(refused(path, &problem).with_hint(remedy));
            }
        }
        Ok(())
    }

    /// Checks a file or folder that may not exist.
    pub(super) fn check_path(&self, path: &Path) -> Result<()> {
        match fs::symlink_metadata(path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
            Err(cause) => Err(failure(path, "inspected", cause)),
            Ok(found) => self.check(path, &found),
        }
    }
}
