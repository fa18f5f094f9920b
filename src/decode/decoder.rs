//! Walks the envelope as it arrives, with its keys in any order, and passes each complete record to the sink.
//!
//! Parses the pieces in place and buffers only the value that is incomplete. A response is complete when its root
//! object has closed and nothing follows.

use memchr::memrchr;

use super::envelope::{Envelope, EnvelopeBuilder, Level};
use super::records::Records;
use super::reference::{check, invalid};
use super::scanner::{ValueEnd, WithoutBlanks, has_single_blanks, is_blank};
use super::{DecodePlan, Limits, Sink};
use crate::contract::envelope::field;
use crate::error::{Error, Kind, Result, Retry, excerpt};

/// Characters of a body or a key in an error.
const EXCERPT_CHARACTERS: usize = 200;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// A body that is no envelope is read up to here, so that its error does not depend on how it arrives.
const BEGINNING_BYTES: usize = 800;
/// Input is parsed in pieces that stay in the processor's cache.
const PIECE_BYTES: usize = 128 << 10;

/// A part of the body that begins at a token, and the position in it.
struct InputChunk<'a> {
    bytes: &'a [u8],
    at: usize,
    records_end: Option<usize>,
}

impl<'a> InputChunk<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, records_end: None }
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The bytes up to the last closing brace. A record that ends behind it is incomplete, and reading it only to undo
    /// it would be expensive. Searched once for the whole chunk.
    fn records(&mut self) -> &'a [u8] {
        let end = *self.records_end.get_or_insert_with(|| memrchr(b'}', self.bytes).map_or(0, |brace| brace + 1));
        &self.bytes[..end]
    }
}

/// Which token may come next. Items are the keys of an object or the elements of the array of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expect {
    #[default]
    Root,
    ItemOrEnd,
    Item,
    Colon,
    Value,
    CommaOrEnd,
    Nothing,
}

/// Decodes one response, fed in pieces. The default is a decoder of a response without records.
#[derive(Debug, Default)]
pub struct Decoder {
    records: Option<Records>,
    limits: Limits,
    expect: Expect,
    builder: EnvelopeBuilder,
    /// Bytes of the body before `pending`.
    passed: u64,
    /// The value that is incomplete, and the search for its end.
    pending: Vec<u8>,
    value_end: Option<ValueEnd>,
    /// How `pending` is copied in a response without records.
    blanks: WithoutBlanks,
}

impl Decoder {
    /// A decoder that has read nothing.
    #[must_use]
    pub fn new(plan: DecodePlan) -> Self {
        let DecodePlan { columns, max_records, limits } = plan;
        Self { records: columns.map(|columns| Records::new(columns, max_records, limits)), limits, ..Self::default() }
    }

    /// A decoder that reads every record on the reference path, for tests and fuzzing.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    #[must_use]
    pub fn reference(plan: DecodePlan) -> Self {
        let mut decoder = Self::new(plan);
        decoder.records.iter_mut().for_each(|records| records.fast_path = None);
        decoder
    }

    /// Decodes the next bytes of the body and returns how many it took: all, unless the sink has a full batch. Feed the
    /// others once that batch is taken.
    ///
    /// # Errors
    /// `NotJson`, `InvalidJson`, `Envelope`, `Record`, `ResponseTooLarge`. After an error the response is void.
    pub fn feed<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize> {
        if self.received() + bytes.len() as u64 > self.limits.body {
            let hint = match self.limits.body_setting {
                Some(setting) => format!("raise {setting}, or request fewer rows"),
                None => "request fewer rows".to_owned(),
            };
            return Err(too_large("body", self.limits.body).with_hint(hint));
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.take_piece(rest.get(..PIECE_BYTES).unwrap_or(rest), sink)?;
            rest = &rest[taken..];
            if sink.records_until_full() == 0 {
                break;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Ends the body.
    ///
    /// # Errors
    /// `TruncatedResponse` if the envelope is incomplete. `NotJson` or `Envelope` if none began.
    pub fn finish(self) -> Result<Envelope> {
        if self.expect == Expect::Root && !BYTE_ORDER_MARK.starts_with(&self.pending) {
            return Err(not_an_envelope(&self.pending));
        }
        if self.expect != Expect::Nothing {
            let received = self.received();
            let message = match received {
                0 => "the response has no body".to_owned(),
                _ => format!("response truncated: it ended after {received} bytes, before its JSON was complete"),
            };
            let error = Error::new(Kind::TruncatedResponse, message).with(|details| details.received = Some(received));
            return Err(if received == 0 { error.retried(Retry::One) } else { error.retryable() });
        }
        Ok(self.finish_early())
    }

    /// Whether any record has been decoded.
    pub fn has_records(&self) -> bool {
        self.records.as_ref().is_some_and(|records| records.count > 0)
    }

    /// Whether the JSON of the body is complete.
    pub fn has_ended(&self) -> bool {
        self.expect == Expect::Nothing
    }

    /// Whether the rest of the body cannot matter: the limit is reached, and code and status already report success.
    pub fn is_satisfied(&self) -> bool {
        self.records.as_ref().is_some_and(Records::is_full) && self.builder.is_success()
    }

    /// The envelope so far, for a caller that stops because of [`Decoder::is_satisfied`].
    pub fn finish_early(self) -> Envelope {
        let bytes = self.received();
        let counts = self.records.map(Records::into_envelope).unwrap_or_default();
        Envelope { members: self.builder.envelope.members, bytes, ..counts }
    }

    fn received(&self) -> u64 {
        self.passed + self.blanks.left_out + self.pending.len() as u64
    }

    /// Decodes a piece and returns how many bytes it took.
    fn take_piece<S: Sink>(&mut self, piece: &[u8], sink: &mut S) -> Result<usize> {
        match self.value_end.take() {
            Some(value_end) => self.continue_value(value_end, piece, sink),
            None if self.pending.is_empty() => self.walk(piece, sink),
            None => {
                // Few, as only the first bytes of a body come here: so a full sink need not stop the decoder.
                let beginning = piece.get(..BEGINNING_BYTES).unwrap_or(piece);
                let mut joined = std::mem::take(&mut self.pending);
                joined.extend_from_slice(beginning);
                let mut rest = joined.as_slice();
                while !rest.is_empty() {
                    let taken = self.walk(rest, sink)?;
                    rest = &rest[taken..];
                }
                Ok(beginning.len())
            }
        }
    }

    /// Continues the value that was incomplete. Returns how many bytes of the piece it took.
    fn continue_value<S: Sink>(&mut self, mut value_end: ValueEnd, piece: &[u8], sink: &mut S) -> Result<usize> {
        let found = self.measure(&mut value_end, piece)?;
        let (belongs, after) = piece.split_at(found.unwrap_or(piece.len()));
        self.keep(belongs, true);
        if found.is_none() {
            self.value_end = Some(value_end);
            return Ok(piece.len());
        }
        let mut value = std::mem::take(&mut self.pending);
        let length = value.len() as u64 + std::mem::take(&mut self.blanks).left_out;
        if self.records.is_none() && self.expect == Expect::Value {
            // Not copied: it may be as long as the body.
            self.take_member(value, self.passed)?;
            self.expect = Expect::CommaOrEnd;
        } else {
            if !self.take_records(&mut InputChunk::new(&value), sink) {
                self.take_value(&value, self.passed, sink)?;
            }
            value.clear();
            self.pending = value;
        }
        self.passed += length;
        let taken = if sink.records_until_full() == 0 { 0 } else { self.walk(after, sink)? };
        Ok(piece.len() - after.len() + taken)
    }

    /// Parses all complete tokens and values and buffers the rest, until the sink is full. Returns how many bytes it
    /// took.
    fn walk<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize> {
        let mut chunk = InputChunk::new(bytes);
        while self.step(&mut chunk, sink)? {
            if sink.records_until_full() == 0 {
                self.passed += chunk.at as u64;
                return Ok(chunk.at);
            }
        }
        self.passed += chunk.at as u64;
        self.keep(chunk.rest(), false);
        Ok(bytes.len())
    }

    /// Buffers bytes of the value that is incomplete: without its blanks, where it is kept whole.
    fn keep(&mut self, bytes: &[u8], is_continued: bool) {
        if self.records.is_none() && (self.value_end.is_some() || is_continued) {
            self.blanks.push(bytes, &mut self.pending);
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    /// Parses one token or value, or several records. Returns false when more bytes are needed.
    fn step<S: Sink>(&mut self, chunk: &mut InputChunk, sink: &mut S) -> Result<bool> {
        if self.expect == Expect::Root && !self.skip_byte_order_mark(chunk) {
            return Ok(false);
        }
        chunk.at += chunk.rest().iter().take_while(|byte| is_blank(**byte)).count();
        let Some(&byte) = chunk.rest().first() else { return Ok(false) };
        let in_records = self.builder.is_in_records();
        self.expect = match (self.expect, byte) {
            (Expect::Root, b'{') => self.open(Level::Root),
            (Expect::Root, _) => match chunk.rest().get(..BEGINNING_BYTES) {
                Some(beginning) => return Err(not_an_envelope(beginning)),
                None => return Ok(false),
            },
            (Expect::ItemOrEnd | Expect::CommaOrEnd, b'}') if !in_records => self.close(),
            (Expect::ItemOrEnd | Expect::CommaOrEnd, b']') if in_records => self.close(),
            (Expect::CommaOrEnd, b',') => Expect::Item,
            (Expect::Colon, b':') => Expect::Value,
            (Expect::Value, b'{') if self.builder.is_at(Level::Root, field::DATA) => self.open(Level::Data),
            (Expect::Value, b'[') if self.records.is_some() && self.builder.is_at(Level::Data, field::RECORDS) => {
                self.open(Level::Records)
            }
            (Expect::Value, _) | (Expect::Item | Expect::ItemOrEnd, b'"') => return self.begin_value(chunk, sink),
            (Expect::Item | Expect::ItemOrEnd, _) if in_records => return self.begin_value(chunk, sink),
            (Expect::Nothing, _) => return Err(self.invalid(chunk, "trailing data after the JSON")),
            _ => return Err(self.invalid(chunk, "unexpected byte")),
        };
        chunk.at += 1;
        Ok(true)
    }

    /// Skips one byte order mark, which some gateways add. Returns false while only a part of it has arrived.
    fn skip_byte_order_mark(&self, chunk: &mut InputChunk) -> bool {
        if self.passed == 0 && chunk.at == 0 {
            if chunk.bytes.starts_with(BYTE_ORDER_MARK) {
                chunk.at = BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(chunk.bytes) {
                return false;
            }
        }
        true
    }

    fn open(&mut self, level: Level) -> Expect {
        self.builder.open(level);
        Expect::ItemOrEnd
    }

    fn close(&mut self) -> Expect {
        if self.builder.close() { Expect::Nothing } else { Expect::CommaOrEnd }
    }

    /// Parses the value that begins here. Returns false if it is incomplete.
    fn begin_value<S: Sink>(&mut self, chunk: &mut InputChunk, sink: &mut S) -> Result<bool> {
        if self.take_records(chunk, sink) {
            return Ok(true);
        }
        // No value begins with these, so the search for its end would fail.
        if let Some(byte @ (b',' | b':' | b']' | b'}')) = chunk.rest().first() {
            return Err(self.invalid(chunk, &format!("unexpected `{}`", char::from(*byte))));
        }
        let offset = self.passed + chunk.at as u64;
        let mut value_end = ValueEnd::new(offset);
        let Some(length) = self.measure(&mut value_end, chunk.rest())? else {
            self.value_end = Some(value_end);
            return Ok(false);
        };
        self.take_value(&chunk.rest()[..length], offset, sink)?;
        chunk.at += length;
        Ok(true)
    }

    /// Searches the next bytes for the end of the value, and enforces the limits on it.
    fn measure(&self, value_end: &mut ValueEnd, bytes: &[u8]) -> Result<Option<usize>> {
        let found = value_end.advance(bytes, self.builder.depth(), self.limits.depth)?;
        // Without records, only the limit on the body applies to values.
        let is_limited = self.expect != Expect::Value || self.records.is_some();
        if is_limited && value_end.length > self.limits.record {
            let what = if self.builder.is_in_records() { "record" } else { "value" };
            return Err(too_large(what, self.limits.record as u64));
        }
        Ok(found)
    }

    /// Reads records on the fast path. Returns false if a record begins here that has to be read otherwise.
    fn take_records<S: Sink>(&mut self, chunk: &mut InputChunk, sink: &mut S) -> bool {
        let Some(records) = self.records.as_mut().filter(|_| self.builder.is_in_records()) else { return false };
        let Some(run) = records.read_all(chunk.records(), chunk.at, sink) else { return false };
        chunk.at = run.end;
        self.expect = if run.is_at_record { Expect::Item } else { Expect::CommaOrEnd };
        !run.is_at_record || (run.count > 0 && sink.records_until_full() == 0)
    }

    /// Parses a complete value that begins at this offset of the body.
    fn take_value<S: Sink>(&mut self, json: &[u8], offset: u64, sink: &mut S) -> Result<()> {
        let is_record = self.builder.is_in_records();
        self.expect = match (self.expect, self.records.as_mut().filter(|_| is_record)) {
            (_, Some(records)) => {
                records.read(json, offset, sink)?;
                Expect::CommaOrEnd
            }
            (Expect::Item | Expect::ItemOrEnd, None) => {
                let key = serde_json::from_slice(json).map_err(|_| invalid(offset, "a key is not a valid string"))?;
                self.builder.take_key(key).map_err(|path| duplicate_key(&path))?;
                Expect::Colon
            }
            (_, None) => {
                let mut value = Vec::with_capacity(json.len());
                if self.records.is_some() || has_single_blanks(json) {
                    value.extend_from_slice(json);
                } else {
                    WithoutBlanks::default().push(json, &mut value);
                }
                self.take_member(value, offset)?;
                Expect::CommaOrEnd
            }
        };
        Ok(())
    }

    /// Adds a member of the envelope or of its `data`, which begins at this offset of the body.
    fn take_member(&mut self, json: Vec<u8>, offset: u64) -> Result<()> {
        check(&json, offset)?;
        let value = String::from_utf8(json).map_err(|_| invalid(offset, "a value is not valid JSON"))?;
        self.builder.take_value(value.into_boxed_str());
        // Without records, only the limit on the body applies.
        if self.records.is_some() && self.builder.bytes > self.limits.record {
            let limit = self.limits.record;
            let message = format!("response too large: the JSON outside its records takes more than {limit} bytes");
            return Err(Error::new(Kind::ResponseTooLarge, message)
                .with(|details| (details.field, details.limit) = (Some("members".to_owned()), Some(limit as u64))));
        }
        Ok(())
    }

    fn invalid(&self, chunk: &InputChunk, reason: &str) -> Error {
        invalid(self.passed + chunk.at as u64, reason)
    }
}

/// Something longer than its limit in bytes.
pub(crate) fn too_large(what: &'static str, limit: u64) -> Error {
    Error::new(Kind::ResponseTooLarge, format!("response too large: {what} exceeds {limit} bytes"))
        .with(|details| (details.field, details.limit) = (Some(what.to_owned()), Some(limit)))
}

/// A body that is not an object: JSON of another type, or no JSON at all.
fn not_an_envelope(start: &[u8]) -> Error {
    let is_word = [&b"null"[..], b"true", b"false"].iter().any(|word| start.starts_with(word));
    if is_word || matches!(start.first(), Some(b'[' | b'"' | b'0'..=b'9' | b'-')) {
        return Error::new(Kind::Envelope, "the response is not a JSON object")
            .with(|details| details.field = Some(String::new()))
            .with_hint("check base_url");
    }
    let body = excerpt(&String::from_utf8_lossy(start), EXCERPT_CHARACTERS);
    Error::new(Kind::NotJson, "the response is not JSON").with(|details| details.body_excerpt = Some(body))
}

/// A key that the envelope has twice. The first may have been acted on already, so neither counts.
fn duplicate_key(path: &str) -> Error {
    let name = excerpt(path, EXCERPT_CHARACTERS);
    Error::new(Kind::Envelope, format!("duplicate key in the response: {name}"))
        .with(|details| details.field = Some(name))
}
