//! The answers of a scan under way: so many requests at a time, and what they tell, in the order of the plan.
//!
//! A request has its slot until its answer was taken to its end, so that as many wait as are under way: whoever takes
//! slowly slows the requests, and memory is bounded.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::stats::Figures;
use super::watch::Taken;
use super::{Part, Scan, Stats};
use crate::client::{Answered, Client, Event, Manner};
use crate::decode::Gather;
use crate::error::{Error, Kind, Result};

/// Batches of one answer that wait besides the one being made: with them memory is bounded.
const BATCHES_AHEAD: usize = 1;

/// The end at which answers are taken.
#[derive(Debug)]
pub(super) struct Answers<B> {
    scan: Scan,
    started: mpsc::UnboundedReceiver<Running<B>>,
    /// In the order of the plan.
    running: VecDeque<Running<B>>,
    slots: Arc<Semaphore>,
    /// Slots that are there once the first answer has begun well.
    more_slots: usize,
    /// Records that are still wanted, where there is a limit.
    wanted: Arc<AtomicU64>,
    figures: Figures,
}

/// The end at which requests are sent.
#[derive(Debug)]
pub(super) struct Asking<B> {
    started: mpsc::UnboundedSender<Running<B>>,
    slots: Arc<Semaphore>,
    wanted: Arc<AtomicU64>,
}

/// One request whose answer was not taken to its end.
#[derive(Debug)]
struct Running<B> {
    index: usize,
    part: Part,
    events: mpsc::Receiver<Event<Taken<B>>>,
    outcome: oneshot::Receiver<Result<Answered>>,
    seen: super::watch::Seen,
    _slot: OwnedSemaphorePermit,
}

/// What a running request tells next.
enum Told<B> {
    Event(Event<B>),
    Ended(Result<Answered>),
}

impl Scan {
    /// Both ends of the answers of a scan. With `alone`, the first requests are sent one by one until
    /// [`Answers::go_ahead`].
    pub(super) fn answers<B>(&self, concurrency: u32, alone: bool) -> (Answers<B>, Asking<B>) {
        let (sender, started) = mpsc::unbounded_channel();
        let slots = if self.limit.is_some() { 1 } else { concurrency.max(1) as usize };
        let at_first = if alone { 1 } else { slots };
        let semaphore = Arc::new(Semaphore::new(at_first));
        let wanted = Arc::new(AtomicU64::new(self.limit.unwrap_or(u64::MAX)));
        let asking = Asking { started: sender, slots: Arc::clone(&semaphore), wanted: Arc::clone(&wanted) };
        let answers = Answers {
            scan: self.clone(),
            started,
            running: VecDeque::new(),
            slots: semaphore,
            more_slots: slots - at_first,
            wanted,
            figures: Figures::new(self),
        };
        (answers, asking)
    }
}

impl<B> Asking<B> {
    /// Sends all requests, each to a sink of `make`. It ends when all answers were taken, or nobody takes them.
    pub(super) async fn ask<G>(self, client: &Client, scan: &Scan, manner: Manner, make: impl Fn() -> G + Sync)
    where
        G: Gather<Batch = Taken<B>>,
    {
        let Self { started, slots, wanted } = self;
        let mut requests = 0..scan.requests();
        let mut under_way = FuturesUnordered::new();
        while !requests.is_empty() || !under_way.is_empty() {
            tokio::select! {
                biased;
                () = started.closed() => return,
                Some(()) = under_way.next(), if !under_way.is_empty() => {}
                Ok(slot) = Arc::clone(&slots).acquire_owned(), if !requests.is_empty() => {
                    let wanted = wanted.load(Ordering::SeqCst);
                    let Some(index) = requests.next().filter(|_| wanted > 0) else { break };
                    let part = scan.part(index, scan.limit.map(|_| wanted));
                    let search = part.search.clone();
                    let (sender, events) = mpsc::channel(BATCHES_AHEAD);
                    let (told, outcome) = oneshot::channel();
                    let running = Running { index, part, events, outcome, seen: super::watch::Seen::default(), _slot: slot };
                    if started.send(running).is_err() {
                        return;
                    }
                    let make = &make;
                    under_way.push(async move {
                        // Nobody listens any more where the scan was given up.
                        drop(told.send(client.search(manner, &search, make, sender).await));
                    });
                }
            }
        }
    }
}

impl<B> Answers<B> {
    /// The next event; nothing when all answers have ended well. May be dropped at any time.
    pub(super) async fn next(&mut self) -> Result<Option<Event<B>>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// As many requests as may be are sent from now on.
    pub(super) fn go_ahead(&mut self) {
        self.slots.add_permits(std::mem::take(&mut self.more_slots));
    }

    /// The figures, to be asked for at the end.
    pub(super) fn stats(&self) -> Stats {
        self.figures.stats(&self.scan)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event<B>>>> {
        loop {
            let all_started = loop {
                match self.started.poll_recv(context) {
                    Poll::Ready(Some(running)) => self.running.push_back(running),
                    Poll::Ready(None) => break true,
                    Poll::Pending => break false,
                }
            };
            let looked_at = if self.scan.is_ordered { 1 } else { self.running.len() };
            let mut told = self.running.iter_mut().take(looked_at).enumerate().filter_map(|(place, running)| {
                match running.poll(context) {
                    Poll::Ready(told) => Some((place, told)),
                    Poll::Pending => None,
                }
            });
            match told.next() {
                Some((_, Told::Event(event))) => return Poll::Ready(Ok(Some(event))),
                Some((place, Told::Ended(outcome))) => {
                    // Its slot is free for the next.
                    let ended = self.running.remove(place);
                    if let Err(error) = ended.map_or(Ok(()), |ended| self.ended(ended, outcome)) {
                        self.running.clear();
                        self.started.close();
                        return Poll::Ready(Err(error));
                    }
                }
                None if all_started && self.running.is_empty() => {
                    return Poll::Ready(if self.has_all() { Ok(None) } else { Err(lost()) });
                }
                None => return Poll::Pending,
            }
        }
    }

    /// Whether there is an answer to each request, or as many records as were wanted.
    fn has_all(&self) -> bool {
        self.figures.requests() == self.scan.requests() as u64 || self.wanted.load(Ordering::SeqCst) == 0
    }

    fn ended(&mut self, running: Running<B>, outcome: Result<Answered>) -> Result<()> {
        let answered = outcome.map_err(|error| match self.scan.requests() {
            1 => error,
            requests => error.within(&format!("request {} of {requests}", running.index + 1)),
        })?;
        self.wanted.fetch_sub(running.seen.rows.min(self.wanted.load(Ordering::SeqCst)), Ordering::SeqCst);
        self.figures.add(&self.scan, &running.part, &answered, running.seen);
        Ok(())
    }
}

impl<B> Running<B> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Told<B>> {
        match self.events.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Event::Batch(Taken { batch, seen }))) => {
                self.seen.add(seen);
                Poll::Ready(Told::Event(Event::Batch(batch)))
            }
            Poll::Ready(Some(Event::Restart)) => {
                self.seen = super::watch::Seen::default();
                Poll::Ready(Told::Event(Event::Restart))
            }
            Poll::Ready(None) => {
                Pin::new(&mut self.outcome).poll(context).map(|told| Told::Ended(told.unwrap_or_else(|_| Err(lost()))))
            }
        }
    }
}

/// Sends and takes at the same time, until all was taken or taking has failed.
pub(super) async fn both<T>(asking: impl Future<Output = ()>, taking: impl Future<Output = T>) -> T {
    tokio::pin!(taking);
    tokio::select! {
        biased;
        taken = &mut taking => taken,
        () = asking => taking.await,
    }
}

/// The work was ended by a defect, which has told its story on standard error.
fn lost() -> Error {
    Error::new(Kind::Internal, "a defect of dataaccess ended the stream")
        .with_hint("please report it with the steps that led here; the client stays usable")
}
