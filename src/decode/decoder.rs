//! The envelope, tokenised as it arrives wherever its keys stand; records handed on one by one.
//!
//! Only what is unfinished is held. An answer counts when its root object closed and nothing followed.

use serde_json::value::RawValue;

use super::envelope::{Envelope, Member, whole_number};
use super::extent::{Extent, Refusal};
use super::record::{Columns, Fault, check};
use super::{Limits, Misfit, Sink};
use crate::contract::envelope::{CODE_SUCCESS, field};
use crate::error::{Error, Kind, Result, excerpt};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const EXCERPT_CHARACTERS: usize = 200;
const VALUE_BYTES: usize = 200;

/// What is to be decoded.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The columns of the records in `data.data`; none when the answer holds no records but is kept whole.
    pub columns: Option<Vec<String>>,
    /// Records after this many are read and dropped.
    pub max_records: Option<u64>,
    /// What is accepted.
    pub limits: Limits,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Root,
    KeyOrEnd,
    Key,
    Colon,
    Value,
    CommaOrEnd,
    ElementOrEnd,
    Element,
    Nothing,
}

/// The containers that are walked; all others are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Data,
    Records,
}

/// The push decoder of one answer.
#[derive(Debug)]
pub struct Decoder {
    columns: Option<Columns>,
    max_records: Option<u64>,
    limits: Limits,
    pending: Vec<u8>,
    /// Bytes of the body before `pending`.
    passed: u64,
    /// Place in `pending`.
    at: usize,
    expect: Expect,
    levels: Vec<Level>,
    extent: Option<Extent>,
    key: String,
    root: Vec<(String, Member)>,
    data: Vec<(String, Member)>,
    records: u64,
    code_is_success: bool,
    status_is_true: bool,
}

impl Decoder {
    /// A decoder at the first byte.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self {
            columns: plan.columns.map(Columns::new),
            max_records: plan.max_records,
            limits: plan.limits,
            pending: Vec::new(),
            passed: 0,
            at: 0,
            expect: Expect::Root,
            levels: Vec::new(),
            extent: None,
            key: String::new(),
            root: Vec::new(),
            data: Vec::new(),
            records: 0,
            code_is_success: false,
            status_is_true: false,
        }
    }

    /// Takes the next bytes of the body.
    ///
    /// # Errors
    /// `NotJson`, `InvalidJson`, `Envelope`, `Record`, `ResponseTooLarge`: after any of them the answer is void.
    pub fn feed<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<()> {
        self.pending.extend_from_slice(bytes);
        if self.received() > self.limits.body {
            return Err(too_large("body", self.limits.body));
        }
        while self.step(sink)? {}
        self.pending.drain(..self.at);
        self.passed += self.at as u64;
        self.at = 0;
        Ok(())
    }

    /// The body has ended.
    ///
    /// # Errors
    /// `TruncatedResponse` unless the envelope closed.
    pub fn finish(self) -> Result<Envelope> {
        if self.expect != Expect::Nothing {
            let received = self.received();
            let message = match received {
                0 => "the answer has no body".to_owned(),
                _ => format!("the answer ended after {received} bytes, before its JSON was complete"),
            };
            return Err(Error::new(Kind::TruncatedResponse, message).with("received", received).retryable());
        }
        let bytes = self.received();
        let (present, records_with_extras) =
            self.columns.map_or_else(Default::default, |columns| (columns.present, columns.records_with_extras));
        Ok(Envelope { members: self.root, records: self.records, present, records_with_extras, bytes })
    }

    /// True once no later byte can matter: the limit is reached and success was already told.
    #[must_use]
    pub fn is_satisfied(&self) -> bool {
        self.code_is_success && self.status_is_true && self.max_records.is_some_and(|limit| self.records >= limit)
    }

    /// What is known when the reading stops early because of [`Decoder::is_satisfied`].
    #[must_use]
    pub fn cut_short(self) -> Envelope {
        let bytes = self.received();
        let (present, records_with_extras) =
            self.columns.map_or_else(Default::default, |columns| (columns.present, columns.records_with_extras));
        let mut data = self.data;
        data.push((field::RECORDS.to_owned(), Member::Records));
        let mut members = self.root;
        members.push((field::DATA.to_owned(), Member::Object(data)));
        Envelope { members, records: self.records, present, records_with_extras, bytes }
    }

    fn received(&self) -> u64 {
        self.passed + self.pending.len() as u64
    }

    /// One token. Answers false when more bytes are needed.
    fn step<S: Sink>(&mut self, sink: &mut S) -> Result<bool> {
        if self.expect == Expect::Root && !self.skip_byte_order_mark() {
            return Ok(false);
        }
        if self.extent.is_none() {
            let rest = self.pending.get(self.at..).unwrap_or_default();
            self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        }
        let Some(&byte) = self.pending.get(self.at) else { return Ok(false) };
        match (self.expect, byte) {
            (Expect::Root, b'{') => self.open(Level::Root, Expect::KeyOrEnd),
            (Expect::Root, _) => return Err(self.not_an_envelope(byte)),
            (Expect::KeyOrEnd | Expect::CommaOrEnd, b'}') if self.level() != Some(Level::Records) => self.close(),
            (Expect::ElementOrEnd | Expect::CommaOrEnd, b']') if self.level() == Some(Level::Records) => self.close(),
            (Expect::CommaOrEnd, b',') => {
                let records = self.level() == Some(Level::Records);
                self.pass(if records { Expect::Element } else { Expect::Key });
            }
            (Expect::KeyOrEnd | Expect::Key, b'"') => return self.take_key(),
            (Expect::Colon, b':') => self.pass(Expect::Value),
            (Expect::Value, b'{') if self.level() == Some(Level::Root) && self.key == field::DATA => {
                self.open(Level::Data, Expect::KeyOrEnd);
            }
            (Expect::Value, b'[') if self.is_record_array() => self.open(Level::Records, Expect::ElementOrEnd),
            (Expect::Value, _) => return self.take_member(),
            (Expect::Element | Expect::ElementOrEnd, _) => return self.take_record(sink),
            (Expect::Nothing, _) => return Err(self.invalid(self.at, "something follows the end of the JSON")),
            _ => return Err(self.invalid(self.at, "unexpected byte")),
        }
        Ok(true)
    }

    /// One mark at the first byte is skipped: gateways add it. Answers false while it may still come.
    fn skip_byte_order_mark(&mut self) -> bool {
        if self.passed == 0 && self.at == 0 {
            if self.pending.starts_with(BYTE_ORDER_MARK) {
                self.at = BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(&self.pending) {
                return false;
            }
        }
        true
    }

    fn level(&self) -> Option<Level> {
        self.levels.last().copied()
    }

    fn is_record_array(&self) -> bool {
        self.columns.is_some() && self.level() == Some(Level::Data) && self.key == field::RECORDS
    }

    fn pass(&mut self, next: Expect) {
        self.at += 1;
        self.expect = next;
    }

    fn open(&mut self, level: Level, next: Expect) {
        self.levels.push(level);
        self.pass(next);
    }

    fn close(&mut self) {
        match self.levels.pop() {
            Some(Level::Data) => {
                let data = std::mem::take(&mut self.data);
                self.root.push((field::DATA.to_owned(), Member::Object(data)));
            }
            Some(Level::Records) => self.data.push((field::RECORDS.to_owned(), Member::Records)),
            _ => {}
        }
        self.pass(if self.levels.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd });
    }

    /// The length of the value at `at`, once it is all there.
    fn take(&mut self, limit: usize, what: &'static str) -> Result<Option<usize>> {
        let mut extent = self.extent.take().unwrap_or_default();
        let rest = self.pending.get(self.at..).unwrap_or_default();
        let depth = self.limits.depth.saturating_sub(self.levels.len());
        let found = extent.advance(rest, depth, self.limits.number).map_err(|refusal| match refusal {
            Refusal::Depth(place) => {
                self.invalid(self.at + place, &format!("more than {} open brackets", self.limits.depth))
            }
            Refusal::Scalar => self.invalid(self.at, &format!("a number of over {} bytes", self.limits.number)),
        })?;
        if found.unwrap_or(rest.len()) > limit {
            return Err(too_large(what, limit as u64));
        }
        if found.is_none() {
            self.extent = Some(extent);
        }
        Ok(found)
    }

    fn take_key(&mut self) -> Result<bool> {
        let Some(length) = self.take(self.limits.value, "value")? else { return Ok(false) };
        let json = self.pending.get(self.at..self.at + length).unwrap_or_default();
        self.key = serde_json::from_slice(json).map_err(|_| self.invalid(self.at, "a key is no valid text"))?;
        let members = if self.level() == Some(Level::Data) { &self.data } else { &self.root };
        if members.iter().any(|(name, _)| *name == self.key) {
            let place = if self.level() == Some(Level::Data) { "data." } else { "" };
            // A reader of streams may have acted on the first: neither can be believed.
            let name = format!("{place}{}", excerpt(&self.key, EXCERPT_CHARACTERS));
            return Err(Error::new(Kind::Envelope, format!("the answer has {name} twice")).with("field", name));
        }
        self.at += length;
        self.expect = Expect::Colon;
        Ok(true)
    }

    fn take_member(&mut self) -> Result<bool> {
        // Without records the members are what was asked for: then only the body's own limit holds.
        let limit = if self.columns.is_some() { self.limits.value } else { usize::MAX };
        let Some(length) = self.take(limit, "value")? else { return Ok(false) };
        let json = self.pending.get(self.at..self.at + length).unwrap_or_default();
        check(json, 0).map_err(|fault| self.fault(fault))?;
        let raw: Box<RawValue> =
            serde_json::from_slice(json).map_err(|_| self.invalid(self.at, "a value is no valid JSON"))?;
        let name = std::mem::take(&mut self.key);
        match (self.level(), name.as_str()) {
            (Some(Level::Root), field::CODE) => self.code_is_success = whole_number(raw.get()) == Some(CODE_SUCCESS),
            (Some(Level::Data), field::STATUS) => self.status_is_true = raw.get() == "true",
            _ => {}
        }
        let members = if self.level() == Some(Level::Data) { &mut self.data } else { &mut self.root };
        members.push((name, Member::Json(raw)));
        self.at += length;
        self.expect = Expect::CommaOrEnd;
        Ok(true)
    }

    fn take_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool> {
        let Some(length) = self.take(self.limits.record, "record")? else { return Ok(false) };
        let record = self.pending.get(self.at..self.at + length).unwrap_or_default();
        if self.max_records.is_some_and(|limit| self.records >= limit) {
            check(record, 0).map_err(|fault| self.fault(fault))?;
        } else if let Some(columns) = &mut self.columns {
            columns.read(record, &self.limits, sink).map_err(|fault| self.fault(fault))?;
        }
        self.records += 1;
        self.at += length;
        self.expect = Expect::CommaOrEnd;
        Ok(true)
    }

    fn fault(&self, fault: Fault) -> Error {
        match fault {
            Fault::Json { offset, reason } => self.invalid(self.at + offset, &reason),
            Fault::TooLong { what, limit } => too_large(what, limit as u64),
            Fault::Value { offset, column, misfit: Misfit { expected, mend }, found, value } => {
                let row = self.records;
                let place = self.passed + (self.at + offset) as u64;
                let column = column.unwrap_or_default();
                let of_column = if column.is_empty() { String::new() } else { format!(", column {column}") };
                let error = Error::new(
                    Kind::Record,
                    format!("row {row}{of_column}: expected {expected}, found {found} (byte {place} of the answer)"),
                )
                .with("row", row)
                .with("column", column.as_str())
                .with("value", start_of(&value))
                .with("offset", place);
                match mend {
                    Some(mend) => error.with_hint(format!("pass schema={{{column:?}: {mend:?}}}")),
                    None => error,
                }
            }
        }
    }

    fn invalid(&self, at: usize, reason: &str) -> Error {
        let offset = self.passed + at as u64;
        Error::new(Kind::InvalidJson, format!("the answer is broken JSON at byte {offset}: {reason}"))
            .with("offset", offset)
    }

    /// The body begins with something that is no object: JSON of another type, or no JSON at all.
    fn not_an_envelope(&self, byte: u8) -> Error {
        let start = self.pending.get(self.at..).unwrap_or_default();
        let is_word = [&b"null"[..], b"true", b"false"].iter().any(|word| start.starts_with(word));
        if is_word || matches!(byte, b'[' | b'"' | b'0'..=b'9' | b'-') {
            return Error::new(Kind::Envelope, "the answer is JSON, but not an object").with("field", "");
        }
        let body = excerpt(&String::from_utf8_lossy(start), EXCERPT_CHARACTERS);
        Error::new(Kind::NotJson, "the answer is not JSON").with("body_excerpt", body)
    }
}

fn too_large(what: &'static str, limit: u64) -> Error {
    Error::new(Kind::ResponseTooLarge, format!("the answer has a {what} of over {limit} bytes"))
        .with("what", what)
        .with("limit", limit)
}

/// At most so many bytes of a value, cut between characters.
fn start_of(value: &str) -> &str {
    let end = (0..=value.len().min(VALUE_BYTES)).rev().find(|end| value.is_char_boundary(*end));
    value.get(..end.unwrap_or_default()).unwrap_or_default()
}
