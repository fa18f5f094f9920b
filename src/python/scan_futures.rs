//! The futures of a scan, which its synchronous and asynchronous methods share.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::scan::{LARGE_BATCHES, RawScan};
use super::unpublished::RawUnpublished;
use super::updates;
use crate::columns::Options;
use crate::error::Result;
use crate::files::{Complete, Compression, CsvOptions, Location, RowMemory};
use crate::scan::{Collected, FolderReport, Format, Progress, RunOptions, Stats};

/// A file format: its name, for CSV the separator and whether formulas are escaped, and the compression.
pub(super) type RawFormat = (String, u8, bool, Option<String>);

/// The format of a file.
pub(super) fn format_of((name, separator, escape_formulas, compression): RawFormat) -> Format {
    let compression = match compression.as_deref() {
        Some("gzip") => Compression::Gzip,
        Some("zstd") => Compression::Zstd,
        _ => Compression::None,
    };
    match name.as_str() {
        "parquet" => Format::Parquet,
        "csv" => Format::Csv { options: CsvOptions { separator, escape_formulas }, compression },
        _ => Format::JsonLines { compression },
    }
}

/// The figures of a scan, and the file with its rows.
type Written = (Stats, Complete);

impl RawScan {
    pub(super) fn writing(
        &self,
        py: Python<'_>,
        location: Location,
        format: RawFormat,
        reports: bool,
    ) -> PyResult<(impl Future<Output = Result<Written>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.clone(), reports);
        let format = format_of(format);
        Ok((async move { scan.write(&core, &location, format).await }, events))
    }

    /// Stores the figures of a complete use and returns them as a dict, with the file that it wrote.
    pub(super) fn written(&self, py: Python<'_>, (stats, complete): Written) -> PyResult<(Py<PyAny>, RawUnpublished)> {
        let figures = pythonize(py, &stats)?.unbind();
        self.last_stats.store(Some(Arc::new(stats)));
        Ok((figures, RawUnpublished::new(complete)))
    }

    pub(super) fn running(
        &self,
        py: Python<'_>,
        options: RunOptions,
    ) -> PyResult<(impl Future<Output = Result<FolderReport>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let (core, scan) = (self.client.get().core(py)?, self.scan.clone());
        let (sender, events) = mpsc::channel(scan.requests() + 2);
        Ok((async move { scan.run(&core, &options, sender).await }, events))
    }

    /// How long the client retries; None of one that is closed.
    pub(super) fn retry_for(&self, py: Python<'_>) -> Option<Duration> {
        self.client.get().core(py).ok().map(|core| core.retry_for())
    }

    pub(super) fn reading(
        &self,
        folder: Location,
        ignore_missing: bool,
    ) -> impl Future<Output = Result<Collected>> + Send + use<> {
        let (scan, last_stats) = (self.scan.clone(), Arc::clone(&self.last_stats));
        // A folder can be read without a token, and after the client was closed.
        let memory = RowMemory::new(self.client.get().max_result_bytes());
        async move {
            let collected = scan.read(&folder, ignore_missing, &memory).await?;
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(collected)
        }
    }

    pub(super) fn collecting(
        &self,
        py: Python<'_>,
        limit: Option<u64>,
        views: bool,
        reports: bool,
    ) -> PyResult<(impl Future<Output = Result<Collected>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.limited(limit), reports);
        let last_stats = Arc::clone(&self.last_stats);
        let collecting = async move {
            let collected = scan.collect(&core, Options { views, widen: true, ..LARGE_BATCHES }).await?;
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(collected)
        };
        Ok((collecting, events))
    }
}
