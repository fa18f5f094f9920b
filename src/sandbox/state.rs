//! The state of a running service, behind one lock, and its start, to which a reset goes back.

use std::convert::Infallible;
use std::mem::{replace, take};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::demo::{Demo, DemoCodes};
use super::exports::Exports;
use super::faults::Faults;
use super::objects::{BusinessObject, shown};
use super::options::Clock;
use super::request_log::Log;
use super::switches::Switches;
use super::table::{Row, Rows};
use super::tokens::Tokens;
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::error::{Error, Kind, Result, excerpt};

/// What a running service has and what changes it.
pub(super) struct Service {
    state: Mutex<State>,
    /// The state at the start, and the time of that.
    start: Mutex<(State, SystemTime)>,
    clock: Clock,
    pub(super) demo: Option<Demo>,
    pub(super) log: Arc<Log>,
    /// The address, once the port is known.
    pub(super) base_url: OnceLock<String>,
}

/// What control changes. A copy is quick, and nothing that takes long is done while it is locked.
#[derive(Clone)]
pub(super) struct State {
    data: Arc<Data>,
    pub(super) exports: Exports,
    pub(super) faults: Faults,
    pub(super) tokens: Tokens,
    advanced: Duration,
}

/// What a search reads: a snapshot, which others replace as a whole.
#[derive(Clone)]
pub(super) struct Data {
    /// In the order of their declaration.
    pub(super) objects: Vec<Object>,
    pub(super) switches: Arc<Switches>,
    /// The promotion codes of demo data, unless the user has removed them.
    codes: Option<DemoCodes>,
}

#[derive(Clone)]
pub(super) struct Object {
    pub(super) declared: Arc<BusinessObject>,
    pub(super) rows: Rows,
}

impl Service {
    /// A service with the two objects of the specification.
    pub(super) fn new(switches: Switches, clock: Clock, demo: Option<Demo>) -> Self {
        let time = clock.now();
        let customers = demo.as_ref().map(|_| Demo::customers()).unwrap_or_default();
        let objects = vec![
            Object::new(BusinessObject::promotion_code(), Rows::default()),
            Object::new(BusinessObject::customer(), customers),
        ];
        let codes = demo.as_ref().map(DemoCodes::new);
        let data = Data { objects, switches: Arc::new(switches), codes };
        let data = Arc::new(data.at(time).unwrap_or(data));
        let exports = demo.as_ref().map(|demo| demo.exports(time)).unwrap_or_default();
        let (faults, tokens, advanced, log, base_url) = Default::default();
        let state = State { data, exports, faults, tokens, advanced };
        let start = Mutex::new((state.clone(), time));
        Self { state: Mutex::new(state), start, clock, demo, log, base_url }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn now(&self) -> SystemTime {
        self.clock.now() + self.state().advanced
    }

    /// The data of now, with the demo codes that are due by the clock.
    pub(super) fn data(&self) -> Arc<Data> {
        let Ok(data) = self.change(|data, now| Ok::<_, Infallible>(data.at(now)));
        data
    }

    pub(super) fn switches(&self) -> Arc<Switches> {
        Arc::clone(&self.state().data.switches)
    }

    /// Replaces the data by what a function makes of them at this time, if anything. It runs without the lock, so that
    /// nobody waits for it, and again if the data were replaced meanwhile.
    fn change<E>(
        &self,
        mut next: impl FnMut(&Data, SystemTime) -> std::result::Result<Option<Data>, E>,
    ) -> std::result::Result<Arc<Data>, E> {
        loop {
            let time = self.clock.now();
            let (known, now) = {
                let state = self.state();
                (Arc::clone(&state.data), time + state.advanced)
            };
            let Some(next) = next(&known, now)?.map(Arc::new) else { return Ok(known) };
            // Unlocked before the old rows are dropped.
            let mut state = self.state();
            if Arc::ptr_eq(&state.data, &known) {
                state.data = Arc::clone(&next);
                return Ok(next);
            }
        }
    }

    /// Moves the clock forward, unless it would leave the calendar.
    pub(super) fn advance(&self, by: Duration) -> Result<()> {
        let time = self.clock.now();
        let mut state = self.state();
        let is_in_calendar =
            |sum: &Duration| time.checked_add(*sum).is_some_and(|now| Timestamp::try_from(now).is_ok());
        let sum = state.advanced.checked_add(by).filter(is_in_calendar);
        let refused = || Error::new(Kind::Config, "seconds: the clock would be beyond the year 9999");
        state.advanced = sum.ok_or_else(refused)?;
        Ok(())
    }

    /// Changes switches for the requests that come next, all or none.
    pub(super) fn switch(&self, changes: &Map<String, Value>) -> Result<()> {
        let switched = self.change(|data, _| {
            let switches = Arc::new(data.switches.with(changes)?);
            Ok(Some(Data { switches, codes: data.codes.as_ref().map(DemoCodes::expired), ..data.clone() }))
        });
        switched.map(drop)
    }

    /// Declares an object. Declaring it again changes nothing; one without rows can be replaced.
    pub(super) fn declare(&self, object: &BusinessObject) -> Result<()> {
        let refused = |problem: &str| Err(Error::new(Kind::Sandbox, format!("object `{}`: {problem}", object.name)));
        let is_known = |known: &&Object| known.declared.id == object.id || known.declared.name == object.name;
        let changed = self.change(|data, _| {
            if let Some(Object { declared: known, rows }) = data.objects.iter().find(is_known) {
                if **known == *object {
                    return Ok(None);
                }
                if (known.id, &known.name) != (object.id, &object.name) {
                    let (id, name) = (known.id, &known.name);
                    return refused(&format!("its name or its id {} is taken by `{name}` with id {id}", object.id));
                }
                // The attributes of promotion codes are fixed by the specification.
                if known.id == PROMOTION_CODE_ID || !rows.is_empty() {
                    return refused("it is declared already with other attributes");
                }
            }
            let mut data = data.clone();
            data.objects.retain(|known| known.declared.name != object.name);
            data.objects.push(Object::new(object.clone(), Rows::default()));
            Ok(Some(data))
        });
        changed.map(drop)
    }

    /// Adds rows that were checked against this declaration, all or none. With `replaces` a row replaces an earlier one
    /// with the same identifier. Rows that are loaded during a reset are there after it.
    pub(super) fn load(&self, declared: &BusinessObject, added: &[Row], replaces: bool) -> Result<()> {
        let changed = self.change(|data, now| {
            let mut data = data.at(now).unwrap_or_else(|| data.clone());
            let known = data.object(&declared.name)?;
            if *known.declared != *declared {
                let problem = format!("object `{}` was declared again while rows for it were loaded", declared.name);
                return Err(Error::new(Kind::Sandbox, problem).with_hint("load them again"));
            }
            let (rows, taken) = known.rows.with(added);
            if let Some((number, identifier)) = taken.filter(|_| !replaces) {
                let problem = format!("its identifier {} is taken", shown(&json!(identifier)));
                let hint = "a load that replaces puts such rows in the place of the present ones";
                return Err(declared.refusal(number, &problem).with_hint(hint));
            }
            data.set(declared.id, rows);
            if declared.id == PROMOTION_CODE_ID {
                data.codes = data.codes.map(|codes| codes.with(added));
            }
            Ok(Some(data))
        });
        changed.map(drop)
    }

    /// Removes all rows of an object and returns their number. Promotion codes of demo data do not return.
    pub(super) fn clear(&self, id: i64) -> usize {
        let mut removed = 0;
        let Ok(_) = self.change(|data, now| {
            let mut data = data.at(now).unwrap_or_else(|| data.clone());
            removed = data.set(id, Rows::default());
            data.codes = data.codes.filter(|_| id != PROMOTION_CODE_ID);
            Ok::<_, Infallible>(Some(data))
        });
        removed
    }

    /// Drops all rows, in a thread of its own, as it may take seconds.
    pub(super) fn end(&self) {
        let none = Arc::new(Data { objects: Vec::new(), switches: self.switches(), codes: None });
        let now = replace(&mut self.state().data, Arc::clone(&none));
        let start = replace(&mut lock(&self.start).0.data, none);
        let _ = std::thread::Builder::new().spawn(move || drop((now, start)));
    }

    /// Makes the state of now the start.
    pub(super) fn keep_start(&self) {
        let time = self.now();
        let state = self.state().clone();
        // Dropped after the lock.
        let _before = replace(&mut *lock(&self.start), (state, time));
    }

    /// Puts data, exports, faults, switches, clock and log back to the start, as if it were now. Tokens stay valid.
    pub(super) fn reset(&self) {
        let (mut next, began) = lock(&self.start).clone();
        let passed = (self.clock.now() + next.advanced).duration_since(began).unwrap_or_default();
        for export in next.exports.0.values_mut() {
            export.started += passed;
        }
        let codes = next.data.codes.as_ref().map(DemoCodes::restarted);
        next.data = Arc::new(Data { codes, ..Data::clone(&next.data) });
        let before = {
            let mut state = self.state();
            next.tokens = take(&mut state.tokens);
            next.faults = next.faults.begun_after(&state.faults);
            replace(&mut *state, next)
        };
        before.faults.cancel();
        self.log.clear();
    }
}

impl Data {
    pub(super) fn object(&self, name: &str) -> Result<&Object> {
        self.objects.iter().find(|object| object.declared.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.objects.iter().map(|object| object.declared.name.as_str()).collect();
            Error::new(Kind::Sandbox, format!("business object `{}` is not declared", excerpt(name, 60)))
                .with_hint(format!("known: {}; add it with declare()", names.join(", ")))
        })
    }

    /// Sets the rows of an object and returns how many it had.
    fn set(&mut self, id: i64, rows: Rows) -> usize {
        let object = self.objects.iter_mut().find(|object| object.declared.id == id);
        object.map_or(0, |object| replace(&mut object.rows, rows).len())
    }

    /// The same with the demo codes of this time, if it has others.
    fn at(&self, now: SystemTime) -> Option<Self> {
        let (codes, rows) = self.codes.as_ref()?.due(now, &self.switches)?;
        let mut data = Self { codes: Some(codes), ..self.clone() };
        data.set(PROMOTION_CODE_ID, rows);
        Some(data)
    }
}

impl Object {
    fn new(declared: BusinessObject, rows: Rows) -> Self {
        Self { declared: Arc::new(declared), rows }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
