//! Atomic files, and the folders of parts made of them: read back, damaged, locked, killed.

mod atomic_file;
#[cfg(unix)]
mod children;
mod folder;
mod folders;
mod json_lines;
mod kills;
mod locks;
mod parts;
mod tables;
