//! Files that come to be whole or not at all, and the checkpoints made of them: read back, damaged, cut off, killed.

mod atomic_file;
mod checkpoints;
#[cfg(unix)]
mod children;
mod damage;
mod folder;
mod json_lines;
mod kills;
mod locks;
mod random;
mod tables;
