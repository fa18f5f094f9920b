//! Scans of days whose service is a function, on a paused clock.

#[cfg(feature = "files")]
mod files;
mod responses;
#[cfg(feature = "files")]
mod runs;
mod splits;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::client::Client;
use crate::client::testing::{Arguments, Reply, Step, token};
use crate::columns::Options;
use crate::filter::codes::{self, CodesArguments};
use crate::filter::{self, VALUES_PER_REQUEST};

const DAY: i64 = 86_400_000;
/// 2024-01-01.
const FIRST: i64 = 1_704_067_200_000;
/// Each row is a batch.
const ROW_BY_ROW: Options = Options { views: false, max_rows: 1, max_bytes: 1 << 20, widen: false };

/// A request that the service got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    /// The day, from 0.
    day: i64,
    /// The status, of a request for one.
    status: Option<i64>,
    /// How often the same was asked for before.
    before: usize,
}

impl Asked {
    fn of(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap();
        let conditions = body["filters"]["OR"][0]["AND"].as_array().unwrap();
        let value = |column| conditions.iter().find(|condition| condition["column"] == column).map(|all| &all["value"]);
        let day = (value("allocated_time").unwrap().as_i64().unwrap() - FIRST) / DAY;
        Self { day, status: value("code_status").and_then(|statuses| statuses[0].as_i64()), before: 0 }
    }
}

/// The requests that the service got, in their order.
type Requests = Arc<Mutex<Vec<Asked>>>;

/// A client of a service whose reply follows from the request.
fn client(
    set: impl FnOnce(&mut Arguments),
    reply: impl Fn(Asked) -> Reply + Send + Sync + 'static,
) -> (Arc<Client>, Requests) {
    let requests = Requests::default();
    let (all, times) = (Arc::clone(&requests), Mutex::new(HashMap::new()));
    let respond = move |body: Bytes| {
        let mut asked = Asked::of(&body);
        let mut times = times.lock().unwrap();
        let before: &mut usize = times.entry(asked).or_default();
        asked.before = *before;
        *before += 1;
        all.lock().unwrap().push(asked);
        std::future::ready(Ok(reply(asked))).boxed()
    };
    (Client::of_service(Arc::new(respond), token().unwrap(), set).unwrap(), requests)
}

fn service(reply: impl Fn(Asked) -> Reply + Send + Sync + 'static) -> (Arc<Client>, Requests) {
    client(|_| {}, reply)
}

/// A service that cuts responses at 40 rows, and has `all` rows of each status a day.
fn capped(all: usize) -> (Arc<Client>, Requests) {
    service(move |asked| {
        let count = if asked.status.is_none() { 40 } else { all.min(40) };
        rows(asked.day, &ids(&format!("{}-{}", asked.day, asked.status.unwrap_or_default()), count))
    })
}

/// The days that were asked for, in the order of the requests.
fn days(requests: &Requests) -> Vec<i64> {
    requests.lock().unwrap().iter().map(|asked| asked.day).collect()
}

/// The ids of `count` rows.
fn ids(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number}")).collect()
}

/// The body of a response with rows of a day.
fn body(day: i64, ids: &[String]) -> Bytes {
    let row =
        |id: &String| json!({"id": id, "code_status": 3, "allocated_time": format!("2024-01-{:02} 12:00:00", day + 1)});
    json!({"code": 200, "data": {"status": true, "data": ids.iter().map(row).collect::<Vec<_>>()}}).to_string().into()
}

fn rows(day: i64, ids: &[String]) -> Reply {
    Reply::ok(body(day, ids))
}

/// Rows that arrive one a second.
fn slow_rows(day: i64, count: usize) -> Reply {
    let body = body(day, &ids(&day.to_string(), count));
    let mut steps = Vec::new();
    let mut rest = body;
    while let Some(end) = rest.iter().position(|byte| *byte == b'}').filter(|end| end + 1 < rest.len()) {
        steps.extend([Step::Bytes(rest.split_to(end + 1)), Step::Wait(Duration::from_secs(1))]);
    }
    steps.push(Step::Bytes(rest));
    Reply { body: steps, ..Reply::status(200) }
}

/// A scan of the first days of 2024.
fn scan(days: i64) -> Scan {
    scan_of(0, days)
}

/// A scan of the days from `start` to the one before `stop`.
fn scan_of(start: i64, stop: i64) -> Scan {
    let text = |day: i64| InputValue::Moment(format!("2024-01-{:02}", day + 1));
    let list = ["id", "code_status", "allocated_time"].map(InputValue::text);
    let arguments = CodesArguments {
        attrs: InputValue::List(list.into()),
        allocated_time: InputValue::Days(Box::new(filter::Days::Range { start: text(start), stop: text(stop) })),
        ..CodesArguments::default()
    };
    let calendar = Calendar::default();
    let plan = codes::plan(arguments, VALUES_PER_REQUEST, &calendar);
    Scan::try_new("scan_codes", plan, &InputValue::Null, &calendar).unwrap()
}

/// The ids of a collected result.
fn found(collected: &Collected) -> Vec<String> {
    use arrow_array::cast::AsArray as _;
    let ids = collected.batches.iter().flat_map(|batch| {
        let ids = batch.column_by_name("id").unwrap();
        ids.as_string::<i32>().iter().map(|id| id.unwrap().to_owned()).collect::<Vec<_>>()
    });
    ids.collect()
}
