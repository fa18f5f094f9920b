//! The connections of a server: accepted, counted, served, and ended when there are too many or no more.
//!
//! It decides who may stay; what is said on a connection is the router's matter.

use std::collections::HashMap;
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
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::line::{Ending, Line};
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
    lines: HashMap<Id, Arc<Line>>,
    tasks: JoinSet<()>,
    limits: Limits,
}

/// Accepts and serves connections until the server stops.
pub(super) async fn serve(listener: TcpListener, router: Router, limits: Limits, stopping: CancellationToken) {
    let mut connections = Connections { lines: HashMap::new(), tasks: JoinSet::new(), limits };
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
            connections.add(socket, &router, &stopping);
        }
    }
    drop(listener);
    // What has not ended by then is cut off when the set is dropped.
    let all_ended = async { while connections.tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all_ended).await;
}

impl Connections {
    /// Whether one more may come, if need be in place of another.
    fn has_room(&self) -> bool {
        self.lines.len() < self.limits.connections || self.lines.values().any(|line| line.waiting_since().is_some())
    }

    fn add(&mut self, socket: TcpStream, router: &Router, stopping: &CancellationToken) {
        let Ok(local) = socket.local_addr() else { return };
        if self.lines.len() >= self.limits.connections {
            self.drop_longest_waiting();
        }
        let line = Arc::new(Line::new(local.ip(), self.limits));
        let task = self.tasks.spawn(talk(socket, Arc::clone(&line), router.clone(), stopping.clone()));
        self.lines.insert(task.id(), line);
    }

    /// Many that never finish a request cannot keep out one that does.
    fn drop_longest_waiting(&mut self) {
        let waiting = self.lines.iter().filter_map(|(id, line)| Some((line.waiting_since()?, *id)));
        if let Some((_, id)) = waiting.min_by_key(|(since, _)| *since)
            && let Some(line) = self.lines.remove(&id)
        {
            line.end(Ending::Close);
        }
    }
}

/// Serves one connection.
async fn talk(socket: TcpStream, line: Arc<Line>, router: Router, stopping: CancellationToken) {
    let wire = TokioIo::new(Wire::new(socket, Arc::clone(&line)));
    let (router, on_line) = (TowerToHyperService::new(router), Arc::clone(&line));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&on_line));
        router.call(request)
    });
    let connection = http1::Builder::new().max_header_size(HEAD_LIMIT).serve_connection(wire, service);
    tokio::pin!(connection);
    tokio::select! {
        // A client that breaks off or sends no HTTP has only itself to tell.
        _ = connection.as_mut() => return,
        () = line.is_over() => return last_bytes(&line).await,
        () = stopping.cancelled() => {}
    }
    if line.waiting_since().is_some() {
        return;
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = connection => {}
        () = line.is_over() => last_bytes(&line).await,
    }
}

/// Lets a client take the last bytes before a reset.
async fn last_bytes(line: &Line) {
    if line.ending() == Some(Ending::Reset) {
        tokio::time::sleep(LAST_BYTES).await;
    }
}
