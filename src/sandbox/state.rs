//! The state of a running service, behind one lock, and its start, to which a reset goes back.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::demo::{Demo, DemoCodes};
use super::exports::Exports;
use super::faults::{Fault, Faults};
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
    start: Mutex<Start>,
    clock: Clock,
    pub(super) demo: Option<Demo>,
    pub(super) tokens: Tokens,
    pub(super) faults: Arc<Faults>,
    pub(super) log: Arc<Log>,
    /// The address, once the port is known.
    pub(super) base_url: OnceLock<String>,
}

/// What a reset puts back. Rows are snapshots, so a copy is quick.
#[derive(Clone)]
pub(super) struct State {
    /// In the order of their declaration.
    objects: Vec<Object>,
    pub(super) exports: Exports,
    switches: Arc<Switches>,
    /// How far the clock was moved forward.
    advanced: Duration,
    /// The promotion codes of demo data, unless the user has removed them.
    codes: Option<DemoCodes>,
}

/// A business object with its rows.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) declared: Arc<BusinessObject>,
    pub(super) rows: Rows,
}

/// The state at the start, with its faults and its time.
struct Start {
    state: State,
    faults: Vec<Fault>,
    time: SystemTime,
}

impl Service {
    /// A service with the two objects of the specification.
    pub(super) fn new(switches: Switches, clock: Clock, demo: Option<Demo>) -> Self {
        let time = clock.now();
        let customers = demo.as_ref().map(|_| Demo::customers()).unwrap_or_default();
        let mut state = State {
            objects: vec![
                Object::new(BusinessObject::promotion_code(), Rows::default()),
                Object::new(BusinessObject::customer(), customers),
            ],
            exports: demo.as_ref().map(|demo| demo.exports(time)).unwrap_or_default(),
            switches: Arc::new(switches),
            advanced: Duration::ZERO,
            codes: demo.as_ref().map(DemoCodes::new),
        };
        state.refresh(time);
        let start = Mutex::new(Start { state: state.clone(), faults: Vec::new(), time });
        let (tokens, faults, log, base_url) = Default::default();
        Self { state: Mutex::new(state), start, clock, demo, tokens, faults, log, base_url }
    }

    /// The state of now. Demo data is that of the time of the clock.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        let time = self.clock.now();
        let mut state = lock(&self.state);
        let now = time + state.advanced;
        state.refresh(now);
        state
    }

    /// The time of the service.
    pub(super) fn now(&self) -> SystemTime {
        self.clock.now() + lock(&self.state).advanced
    }

    /// Moves the clock forward, unless it would leave the calendar.
    pub(super) fn advance(&self, by: Duration) -> Result<()> {
        let time = self.clock.now();
        let mut state = lock(&self.state);
        let is_in_calendar =
            |sum: &Duration| time.checked_add(*sum).is_some_and(|now| Timestamp::try_from(now).is_ok());
        let sum = state.advanced.checked_add(by).filter(is_in_calendar);
        let refused = || Error::new(Kind::Config, "seconds: the clock would be beyond the year 9999");
        state.advanced = sum.ok_or_else(refused)?;
        Ok(())
    }

    /// The switches of now.
    pub(super) fn switches(&self) -> Arc<Switches> {
        Arc::clone(&lock(&self.state).switches)
    }

    /// Changes switches for the requests that come next, all or none.
    pub(super) fn switch(&self, changes: &Map<String, Value>) -> Result<()> {
        let mut state = lock(&self.state);
        state.switches = Arc::new(state.switches.with(changes)?);
        if let Some(codes) = &mut state.codes {
            codes.expire();
        }
        Ok(())
    }

    /// All objects, in the order of their declaration.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.state().objects.clone()
    }

    /// The object of this name.
    pub(super) fn object(&self, name: &str) -> Result<Object> {
        let state = self.state();
        state.objects.iter().find(|object| object.declared.name == name).cloned().ok_or_else(|| {
            let names: Vec<&str> = state.objects.iter().map(|object| object.declared.name.as_str()).collect();
            Error::new(Kind::Sandbox, format!("business object `{}` is not declared", excerpt(name, 60)))
                .with_hint(format!("known: {}; add it with declare()", names.join(", ")))
        })
    }

    /// Declares an object. Declaring it again changes nothing; one without rows can be replaced.
    pub(super) fn declare(&self, object: BusinessObject) -> Result<()> {
        let refused = |problem: &str| Err(Error::new(Kind::Sandbox, format!("object `{}`: {problem}", object.name)));
        let mut state = lock(&self.state);
        let is_known = |known: &Object| known.declared.id == object.id || known.declared.name == object.name;
        if let Some(Object { declared: known, rows }) = state.objects.iter().find(|known| is_known(known)) {
            if **known == object {
                return Ok(());
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
        state.objects.retain(|known| known.declared.name != object.name);
        state.objects.push(Object::new(object, Rows::default()));
        Ok(())
    }

    /// Adds rows that were checked against this declaration, all or none. With `replaces` a row replaces an earlier one
    /// with the same identifier. Rows that are loaded during a reset are there after it.
    pub(super) fn load(&self, declared: &BusinessObject, added: &[Row], replaces: bool) -> Result<()> {
        loop {
            let known = self.object(&declared.name)?;
            if *known.declared != *declared {
                let problem = format!("object `{}` was declared again while rows for it were loaded", declared.name);
                return Err(Error::new(Kind::Sandbox, problem).with_hint("load them again"));
            }
            let own = lock(&self.state).codes.as_ref().map(DemoCodes::own);
            // No search waits for this: it is done without the lock.
            let (rows, taken) = known.rows.with(added);
            let own = own.filter(|_| declared.id == PROMOTION_CODE_ID).map(|own| own.with(added).0);
            if let Some((number, identifier)) = taken.filter(|_| !replaces) {
                let problem = format!("its identifier {} is taken", shown(&json!(identifier)));
                let hint = "a load that replaces puts such rows in the place of the present ones";
                return Err(declared.refusal(number, &problem).with_hint(hint));
            }
            let State { objects, codes, .. } = &mut *lock(&self.state);
            // Rows that came meanwhile would be lost.
            if let Some(object) = objects.iter_mut().find(|object| object.rows.is(&known.rows)) {
                object.rows = rows;
                if let Some((codes, own)) = codes.as_mut().zip(own) {
                    codes.keep(own);
                }
                return Ok(());
            }
        }
    }

    /// Removes all rows of an object and returns their number. Promotion codes of demo data do not return.
    pub(super) fn clear(&self, id: i64) -> usize {
        let mut state = self.state();
        if id == PROMOTION_CODE_ID {
            state.codes = None;
        }
        let object = state.objects.iter_mut().find(|object| object.declared.id == id);
        object.map_or(0, |object| std::mem::take(&mut object.rows).len())
    }

    /// Makes the state of now the start.
    pub(super) fn keep_start(&self) {
        let time = self.now();
        let state = lock(&self.state).clone();
        let faults = self.faults.list().iter().map(|active| active.fault.clone()).collect();
        *lock(&self.start) = Start { state, faults, time };
    }

    /// Puts data, exports, faults, switches, clock and log back to the start, as if it were now. Tokens stay valid.
    pub(super) fn reset(&self) {
        let time = self.clock.now();
        let start = lock(&self.start);
        let mut state = start.state.clone();
        let passed = (time + state.advanced).duration_since(start.time).unwrap_or_default();
        for export in state.exports.0.values_mut() {
            export.started += passed;
        }
        if let Some(codes) = &mut state.codes {
            codes.restart();
        }
        *lock(&self.state) = state;
        self.faults.end(None);
        for fault in &start.faults {
            self.faults.begin(fault.clone());
        }
        self.log.clear();
    }
}

impl State {
    /// Computes the demo data of this time.
    fn refresh(&mut self, now: SystemTime) {
        let codes = self.codes.as_mut();
        if let Some(rows) = codes.and_then(|codes| codes.due(now, &self.switches))
            && let Some(object) = self.objects.iter_mut().find(|object| object.declared.id == PROMOTION_CODE_ID)
        {
            object.rows = rows;
        }
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
