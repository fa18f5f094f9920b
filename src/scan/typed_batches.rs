//! The batches of a scan in columns. The first values of a column decide its inferred type for all later ones.

use std::collections::VecDeque;
use std::sync::Arc;

use arc_swap::ArcSwap;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use tokio_util::sync::CancellationToken;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::result_times::ResultTimes;
use super::{Scan, Stats};
use crate::client::{Client, Delivered, SearchMode};
use crate::columns::{self, Column, ColumnSink, ColumnType, Options, Types};
use crate::decode::{Batch as _, column_type};
use crate::error::{Error, Kind, Result};
use crate::time::Moment;

/// Batches that wait for the first value of a column, and their bytes.
const HELD: usize = 16;
const HELD_BYTES: usize = 8 << 20;

pub(super) struct TypedBatches {
    responses: Responses<WithStats<ColumnSink>, RecordBatch>,
    columns: Vec<Column>,
    views: bool,
    times: ResultTimes,
    /// The columns of the attempts that begin now.
    frozen: Arc<ArcSwap<Vec<Column>>>,
    /// Whether a batch decides the types of later attempts. One of the only request may be void.
    freezes: bool,
    /// The batches that wait until all columns have types, and when they were requested.
    held: VecDeque<(Delivered<RecordBatch>, Moment)>,
    /// The number of their attempt.
    attempt: u32,
    /// The types so far, and the schema of all batches once it is decided.
    types: Types,
    schema: Option<SchemaRef>,
    /// When the response of the last batch was requested.
    requested_at: Option<Moment>,
}

impl TypedBatches {
    /// While types must be inferred, only one request is in flight.
    pub(super) fn new(scan: &Scan, client: &Arc<Client>, mode: SearchMode, options: Options) -> Self {
        let frozen = Arc::new(ArcSwap::from_pointee(scan.columns.clone()));
        let (columns, time_column) = (Arc::clone(&frozen), scan.time_column());
        let sink = move || WithStats::new(ColumnSink::new(&columns.load(), options), time_column);
        let mut responses = Responses::new(scan, client, mode, client.buffer(), sink);
        responses.set_concurrent(scan.schema(options.views).is_some());
        Self {
            responses,
            columns: scan.columns.clone(),
            views: options.views,
            times: scan.times.clone(),
            frozen,
            freezes: scan.requests() > 1,
            held: VecDeque::new(),
            attempt: 0,
            types: Types::new(),
            schema: None,
            requested_at: None,
        }
    }

    /// The next batch; `None` when all responses are complete. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<Delivered<RecordBatch>>> {
        loop {
            if let Some(schema) = &self.schema
                && let Some((Delivered { attempt, batch }, requested_at)) = self.held.pop_front()
            {
                let batch = self.times.batch(typed(batch, schema)?)?;
                self.requested_at = Some(requested_at);
                return Ok(Some(Delivered { attempt, batch }));
            }
            match self.responses.next().await? {
                Some(delivered) => self.hold(delivered)?,
                None if self.held.is_empty() || self.attempt != self.responses.attempt() => return Ok(None),
                None => self.decide(),
            }
        }
    }

    /// Takes a batch, whose values may decide the types of all.
    fn hold(&mut self, delivered: Delivered<RecordBatch>) -> Result<()> {
        if self.attempt != delivered.attempt {
            // Those before are void.
            self.held.clear();
            (self.attempt, self.schema) = (delivered.attempt, None);
            self.types.clear();
        }
        let types = columns::types(delivered.batch.schema_ref())?;
        self.held.push_back((delivered, self.responses.requested_at()));
        if self.schema.is_some() {
            return Ok(());
        }
        let is_new = |(name, _): &(String, ColumnType)| self.types.iter().all(|(known, _)| known != name);
        let new: Types = types.into_iter().filter(is_new).collect();
        self.types.extend(new);
        let bytes: usize = self.held.iter().map(|(held, _)| held.batch.bytes()).sum();
        if self.types.len() >= self.columns.len() || self.held.len() >= HELD || bytes >= HELD_BYTES {
            self.decide();
        } else if self.freezes {
            self.frozen.store(Arc::new(columns::frozen(&self.columns, &self.types)));
        }
        Ok(())
    }

    /// Decides the types: columns without any value so far are strings.
    fn decide(&mut self) {
        let mut columns = columns::frozen(&self.columns, &self.types);
        for column in &mut columns {
            column.column_type.get_or_insert(ColumnType::String);
        }
        self.schema = columns::schema(&columns, self.views);
        if self.freezes {
            self.frozen.store(Arc::new(columns));
            self.responses.set_concurrent(true);
        }
    }

    /// The number of the last attempt: batches of others are void.
    #[cfg(feature = "files")]
    pub(super) fn attempt(&self) -> u32 {
        self.responses.attempt()
    }

    /// Sends the first requests. Must be called inside a runtime.
    pub(super) fn send_requests(&mut self) {
        self.responses.send_requests();
    }

    /// Cancels the requests in flight, from any thread.
    pub(super) fn cancellation(&self) -> CancellationToken {
        self.responses.cancellation()
    }

    /// When the response of the last batch was requested.
    pub(super) fn requested_at(&self) -> Moment {
        self.requested_at.unwrap_or_else(|| self.responses.requested_at())
    }

    /// The figures of the responses that are complete.
    pub(super) fn stats(&self) -> Stats {
        self.responses.stats().with_mixed(Vec::new())
    }
}

/// A batch with the decided types. A column that had no value before is an error once it has others than decided.
fn typed(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let columns = batch.schema_ref().fields().iter().zip(batch.columns()).zip(schema.fields());
    for ((field, array), decided) in columns {
        if field.data_type() != decided.data_type() && array.logical_null_count() < array.len() {
            let (name, found) = (field.name(), ColumnType::of(field)?.name());
            let message = format!("column {name}: the first rows have no value, and a later one is of type {found}");
            let error = Error::new(Kind::Record, message).with(|details| details.column = Some(name.clone()));
            return Err(error.with_hint(format!("set {}", column_type(name, found))));
        }
    }
    columns::retyped(&batch, schema)
}
