//! The connections of a server: accepted, counted, served, and ended when there are too many or no more.
//!
//! It decides who may stay; what is said on a connection is the router's matter.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection_state::{ConnectionState, Ending};
use super::lingering_close;
use super::routes::{self, Shared};
use super::wire::Wire;

/// Most bytes of a head. That it has 100 headers at most is the HTTP library's own rule.
const HEAD_LIMIT: usize = 64 * 1024;
/// How long requests under way may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// Pause when none can be accepted, as when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time for a client to take what was sent before a reset, which throws away what is still on its way.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// The connections that are open.
struct Connections {
    lines: HashMap<Id, Arc<ConnectionState>>,
    tasks: JoinSet<()>,
    router: Router,
    shared: Shared,
    stopping: CancellationToken,
}

/// Accepts and serves connections until the server stops.
pub(super) async fn serve(listener: TcpListener, shared: Shared, stopping: CancellationToken) {
    let (lines, tasks, router) = (HashMap::new(), JoinSet::new(), routes::router(shared.clone()));
    let mut connections = Connections { lines, tasks, router, shared, stopping: stopping.clone() };
    let mut guest = None;
    loop {
        tokio::select! {
            () = stopping.cancelled() => break,
            Some(ended) = connections.tasks.join_next_with_id() => {
                connections.lines.remove(&ended.map_or_else(|failure| failure.id(), |(id, ())| id));
            }
            accepted = listener.accept(), if guest.is_none() => match accepted {
                Ok((socket, _)) => guest = Some(socket),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            // All others are being answered: one of them will soon be done.
            () = tokio::time::sleep(ACCEPT_PAUSE), if guest.is_some() => {}
        }
        if connections.has_room()
            && let Some(socket) = guest.take()
        {
            connections.add(socket);
        }
    }
    drop(listener);
    // What has not ended by then is cut off when the set is dropped.
    let all_ended = async { while connections.tasks.join_next().await.is_some() {} };
    let _ = timeout(GRACE, all_ended).await;
}

impl Connections {
    /// Whether one more may come, if need be in place of another.
    fn has_room(&self) -> bool {
        self.lines.len() < self.shared.limits.connections || self.longest_idle().is_some()
    }

    fn add(&mut self, socket: TcpStream) {
        let Ok(local) = socket.local_addr() else { return };
        if self.lines.len() >= self.shared.limits.connections
            && let Some(line) = self.longest_idle().and_then(|id| self.lines.remove(&id))
        {
            line.end(Ending::Close);
        }
        let line = Arc::new(ConnectionState::new(local.ip(), self.shared.limits));
        let (router, shared) = (self.router.clone(), self.shared.clone());
        let task = self.tasks.spawn(talk(socket, Arc::clone(&line), router, shared, self.stopping.clone()));
        self.lines.insert(task.id(), line);
    }

    /// Who makes room: the one that owes a whole request the longest, else the one that takes no answer the longest.
    ///
    /// Many that never finish a request, or never read, cannot keep out one that does.
    fn longest_idle(&self) -> Option<Id> {
        let longest = |since: fn(&ConnectionState) -> Option<Instant>| {
            let idle = self.lines.iter().filter_map(|(id, line)| Some((since(line)?, *id)));
            idle.min_by_key(|(since, _)| *since).map(|(_, id)| id)
        };
        longest(ConnectionState::waiting_since).or_else(|| longest(ConnectionState::stalled_since))
    }
}

/// Serves one connection until either side has had enough.
async fn talk(
    socket: TcpStream,
    line: Arc<ConnectionState>,
    router: Router,
    shared: Shared,
    stopping: CancellationToken,
) {
    let conversation = converse(Wire::new(socket, Arc::clone(&line)), &line, router, &shared, &stopping);
    tokio::pin!(conversation);
    tokio::select! {
        () = conversation.as_mut() => {}
        () = line.is_over() => {
            if line.ending() == Some(Ending::Reset) {
                tokio::time::sleep(LAST_BYTES).await;
            }
        }
    }
}

/// Answers requests, and takes leave such that the last answer is read.
async fn converse(
    wire: Wire,
    line: &Arc<ConnectionState>,
    router: Router,
    shared: &Shared,
    stopping: &CancellationToken,
) {
    let (router, on_line) = (TowerToHyperService::new(router), Arc::clone(line));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&on_line));
        router.call(request)
    });
    let mut http = http1::Builder::new().max_header_size(HEAD_LIMIT).serve_connection(TokioIo::new(wire), service);
    let ended = tokio::select! {
        ended = poll_fn(|context| http.poll_without_shutdown(context)) => ended,
        () = stopping.cancelled() => {
            if line.waiting_since().is_none() {
                std::pin::Pin::new(&mut http).graceful_shutdown();
                // A client that breaks off has only itself to tell.
                let _ = http.await;
            }
            return;
        }
    };
    let wire = http.into_parts().io.into_inner();
    let last_words = match ended {
        Ok(()) => None,
        Err(cause) if wire.withholds() => Some(lingering_close::unreadable(&cause, &shared.service.switches)),
        // What HTTP says of its own accord left together with an answer that was still on its way.
        Err(cause) if cause.is_parse() => None,
        Err(_) => return,
    };
    line.says_farewell();
    tokio::select! {
        // A client that goes without a word may.
        _ = timeout(shared.limits.linger, lingering_close::part(wire, last_words)) => {}
        () = stopping.cancelled() => {}
    }
}
