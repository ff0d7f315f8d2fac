//! Memory-mapped files, the one place of this crate that needs `unsafe` for them.
//!
//! A mapping changes under its reader's feet when another program writes to the file. Weights and
//! token files are replaced by rename and never written in place by this toolkit, and a mapping
//! keeps the old content alive after a rename. A file that another program shortens while it is mapped
//! ends this one by a signal (SIGBUS) when it reads what is gone; no check beforehand can prevent that.

#![allow(unsafe_code)]

use memmap2::Mmap;
use std::fs::File;

/// Maps a file for reading.
pub(crate) fn read_only(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the mapping is private to readers that treat its bytes as plain data of any value, so
    // a concurrent writer can spoil the values that they see but no invariant of theirs. One that shortens
    // the file ends the process, which is not undefined behaviour.
    unsafe { Mmap::map(file) }
}
