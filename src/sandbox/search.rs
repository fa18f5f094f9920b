//! A search of rows, and its response: whole while it is small, else piece by piece as the client takes them.
//!
//! It reads a snapshot. No piece takes long, and a client that has gone asks for no other.

use std::future::ready;
use std::io;
use std::num::NonZeroU64;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::task::{JoinHandle, spawn_blocking};

use super::objects::{BusinessObject, Cell};
use super::reply::{Envelope, json};
use super::state::Object;
use super::switches::{EmptyShape, LastUsedType, RowOrder, ScalarType, Switches};
use super::table::{Row, Rows, Value};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::envelope::CODE_SUCCESS;

/// What comes after the last of several records.
const END: &str = "]}}";
/// Bytes of a piece: a smaller response is sent whole.
const PIECE: usize = 64 * 1024;
/// Most comparisons for a piece, which has fewer bytes then.
const COMPARISONS: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Query {
    /// Indexes of the attributes to return, in the requested order; none where all requested ones are unknown.
    pub(super) attributes: Vec<usize>,
    /// A record matches when all predicates of at least one group hold.
    pub(super) groups: Vec<Vec<Predicate>>,
}

/// A predicate on one attribute, given by its index. Null never matches.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) attribute: usize,
    pub(super) comparison: Comparison,
}

#[derive(Debug)]
pub(super) enum Comparison {
    /// One of these values, which are in order.
    Among(Vec<Value>),
    /// The first time or a later one, and before the second.
    Within(Option<String>, Option<String>),
}

impl Comparison {
    pub(super) fn among(values: Vec<Cell>) -> Self {
        let mut values: Vec<Value> = values.into_iter().map(Value::from).collect();
        values.sort();
        values.dedup();
        Self::Among(values)
    }
}

impl Predicate {
    pub(super) fn holds(&self, row: &Row) -> bool {
        match (row.get(self.attribute), &self.comparison) {
            (None | Some(Value::Null), _) => false,
            (Some(cell), Comparison::Among(values)) => values.binary_search(cell).is_ok(),
            (Some(Value::Text(time)), Comparison::Within(start, end)) => {
                let is_after = |start: &String| **start <= **time;
                start.as_ref().is_none_or(is_after) && end.as_ref().is_none_or(|end| **time < **end)
            }
            (Some(_), Comparison::Within(..)) => false,
        }
    }
}

pub(super) struct Search {
    rows: Rows,
    /// The indexes of rows that are not compared yet.
    rest: Box<dyn Iterator<Item = usize> + Send>,
    groups: Vec<Vec<Predicate>>,
    records: Records,
    limit: u64,
}

impl Search {
    /// A search of these rows. Records of promotion codes have the types that switches choose.
    pub(super) fn new(object: &Object, Query { attributes, groups }: Query, switches: &Switches) -> Self {
        let rows = object.rows.clone();
        let indexes: Box<dyn DoubleEndedIterator<Item = usize> + Send> = match identifiers(&groups) {
            Some(values) => {
                let found: Vec<usize> = values.iter().filter_map(|value| rows.find(value)).collect();
                Box::new(found.into_iter())
            }
            None => Box::new(0..rows.len()),
        };
        let rest: Box<dyn Iterator<Item = usize> + Send> = match switches.row_order {
            RowOrder::Id => indexes,
            RowOrder::Reverse => Box::new(indexes.rev()),
        };
        let records = Records::new(&object.declared, attributes, switches);
        Self { rows, rest, groups, records, limit: switches.maximum_rows.map_or(u64::MAX, NonZeroU64::get) }
    }

    /// The next piece of the response, and the search if that is not the last one.
    pub(super) fn piece(mut self) -> (Bytes, Option<Self>) {
        let comparisons = 1 + self.groups.iter().map(Vec::len).sum::<usize>();
        let (mut piece, mut compared) = (Vec::new(), 0);
        while self.limit > 0
            && let Some(row) = self.rest.next().and_then(|index| self.rows.get(index))
        {
            if self.groups.iter().any(|group| group.iter().all(|predicate| predicate.holds(row))) {
                self.records.write(row, &mut piece);
                self.limit -= 1;
            }
            compared += comparisons;
            if piece.len() >= PIECE || compared >= COMPARISONS {
                return (piece.into(), Some(self));
            }
        }
        piece.extend_from_slice(self.records.end().as_bytes());
        (piece.into(), None)
    }

    /// A body that begins with a piece and has the pieces of the search after it.
    pub(super) fn body((piece, rest): (Bytes, Option<Self>)) -> Body {
        let Some(rest) = rest else { return Body::from(piece) };
        // One piece is made while another is sent.
        let pieces = stream::try_unfold(Some(rest.next()), |next| async {
            let Some(next) = next else { return Ok(None) };
            let (piece, rest) = next.await.map_err(io::Error::other)?;
            Ok(Some((piece, rest.map(Self::next))))
        });
        Body::from_stream(stream::once(ready(Ok::<_, io::Error>(piece))).chain(pieces))
    }

    fn next(self) -> JoinHandle<(Bytes, Option<Self>)> {
        spawn_blocking(|| self.piece())
    }
}

/// The identifiers of all rows that can match, in order, if the only group names some.
fn identifiers(groups: &[Vec<Predicate>]) -> Option<&[Value]> {
    let [group] = groups else { return None };
    group.iter().find_map(|predicate| match &predicate.comparison {
        Comparison::Among(values) if predicate.attribute == 0 => Some(values.as_slice()),
        _ => None,
    })
}

/// `data` of a response.
#[derive(Serialize)]
struct Found {
    status: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Cell>,
}

/// Writes the records of a response, and what is around them.
struct Records {
    columns: Vec<Column>,
    start: String,
    empty: String,
    is_empty: bool,
}

struct Column {
    attribute: usize,
    /// The text before each value: a comma except for the first, then name and colon.
    lead: String,
    /// Around each value that is set.
    around: (&'static str, &'static str),
}

impl Records {
    fn new(found: &BusinessObject, attributes: Vec<usize>, switches: &Switches) -> Self {
        let (code, message) = (CODE_SUCCESS, "Search Business Object success");
        let written = |records| json(&Envelope { code, message, data: Found { status: true, data: records } });
        let empty = match switches.empty_shape {
            EmptyShape::Array => Some(json!([])),
            EmptyShape::Object => Some(json!({})),
            EmptyShape::Null => Some(Cell::Null),
            EmptyShape::Absent => None,
        };
        let mut start = written(Some(json!([])));
        start.truncate(start.len() - END.len());
        let column = |(place, attribute): (usize, usize)| {
            let name = found.attributes.get(attribute)?.name.as_str();
            let lead = format!("{}{}:", if place == 0 { "" } else { "," }, json(&name));
            let around = if found.id == PROMOTION_CODE_ID { around(name, switches) } else { ("", "") };
            Some(Column { attribute, lead, around })
        };
        let columns = attributes.into_iter().enumerate().filter_map(column).collect();
        Self { columns, start, empty: written(empty), is_empty: true }
    }

    fn write(&mut self, row: &Row, out: &mut Vec<u8>) {
        let lead = if self.is_empty { self.start.as_str() } else { "," };
        out.extend_from_slice(lead.as_bytes());
        self.is_empty = false;
        out.push(b'{');
        for Column { attribute, lead, around } in &self.columns {
            let value = row.get(*attribute).unwrap_or(&Value::Null);
            let (before, after) = if matches!(value, Value::Null) { ("", "") } else { *around };
            out.extend_from_slice(lead.as_bytes());
            out.extend_from_slice(before.as_bytes());
            // Nothing fails in memory.
            let _ = serde_json::to_writer(&mut *out, value);
            out.extend_from_slice(after.as_bytes());
        }
        out.push(b'}');
    }

    fn end(&self) -> &str {
        if self.is_empty { &self.empty } else { END }
    }
}

/// What is around the values of a promotion code's attribute.
fn around(name: &str, switches: &Switches) -> (&'static str, &'static str) {
    match name {
        "channel_id" if switches.channel_id_type == ScalarType::String => ("\"", "\""),
        "last_used_source" | "last_used_time" if switches.last_used_type == LastUsedType::Object => {
            ("{\"value\":", "}")
        }
        _ => ("", ""),
    }
}
