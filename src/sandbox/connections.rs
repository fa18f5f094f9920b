//! Accepts, counts and serves the connections of a server, and closes them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io::Result as IoResult;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection_state::{ConnectionState, Ending};
use super::reply::{Refusal, SERVER};
use super::routes::{self, Shared};
use super::socket::ControlledSocket;
use super::switches::Switches;

/// Most bytes of a head. The HTTP library itself limits it to 100 headers.
const HEAD_LIMIT: usize = 64 * 1024;
/// How long requests in flight may take once the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// Pause after a failed accept, as when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time for the client to receive what was sent: a reset discards what is still in flight.
const RESET_DELAY: Duration = Duration::from_millis(50);

/// Most bytes that are discarded.
const DROPPED: usize = 128 * 1024 * 1024;
/// Bytes that are read at once.
const READ: usize = 16 * 1024;

/// The connections that are open.
struct Connections {
    states: HashMap<Id, Arc<ConnectionState>>,
    tasks: JoinSet<()>,
    router: Router,
    shared: Shared,
    stopping: CancellationToken,
}

/// Accepts and serves connections until the server stops.
pub(super) async fn serve(listener: TcpListener, shared: Shared, stopping: CancellationToken) {
    let (states, tasks, router) = (HashMap::new(), JoinSet::new(), routes::router(shared.clone()));
    let mut connections = Connections { states, tasks, router, shared, stopping: stopping.clone() };
    let mut pending = None;
    loop {
        tokio::select! {
            () = stopping.cancelled() => break,
            Some(ended) = connections.tasks.join_next_with_id() => {
                connections.states.remove(&ended.map_or_else(|failure| failure.id(), |(id, ())| id));
            }
            accepted = listener.accept(), if pending.is_none() => match accepted {
                Ok((socket, _)) => pending = Some(socket),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            // All connections are busy: try again soon.
            () = tokio::time::sleep(ACCEPT_PAUSE), if pending.is_some() => {}
        }
        if connections.has_capacity()
            && let Some(socket) = pending.take()
        {
            connections.add(socket);
        }
    }
    drop(listener);
    // Dropping the set aborts what has not ended by then.
    let all_ended = async { while connections.tasks.join_next().await.is_some() {} };
    let _ = timeout(GRACE, all_ended).await;
}

impl Connections {
    /// Whether one more connection can be served, if need be in place of another.
    fn has_capacity(&self) -> bool {
        self.states.len() < self.shared.limits.connections || self.eviction_candidate().is_some()
    }

    fn add(&mut self, socket: TcpStream) {
        let Ok(local) = socket.local_addr() else { return };
        if self.states.len() >= self.shared.limits.connections
            && let Some(connection) = self.eviction_candidate().and_then(|id| self.states.remove(&id))
        {
            connection.close_now(Ending::Close);
        }
        let connection = Arc::new(ConnectionState::new(local.ip(), self.shared.limits));
        let (router, shared) = (self.router.clone(), self.shared.clone());
        let task =
            self.tasks.spawn(serve_connection(socket, Arc::clone(&connection), router, shared, self.stopping.clone()));
        self.states.insert(task.id(), connection);
    }

    /// The connection to close for a new one: the one longest without a complete request, else longest without reading.
    ///
    /// Clients that never finish a request or never read cannot keep out others.
    fn eviction_candidate(&self) -> Option<Id> {
        let longest = |since: fn(&ConnectionState) -> Option<Instant>| {
            let idle = self.states.iter().filter_map(|(id, connection)| Some((since(connection)?, *id)));
            idle.min_by_key(|(since, _)| *since).map(|(_, id)| id)
        };
        longest(ConnectionState::idle_since).or_else(|| longest(ConnectionState::stalled_since))
    }
}

/// Serves one connection until either side closes it.
async fn serve_connection(
    socket: TcpStream,
    connection: Arc<ConnectionState>,
    router: Router,
    shared: Shared,
    stopping: CancellationToken,
) {
    let serving =
        serve_requests(ControlledSocket::new(socket, Arc::clone(&connection)), &connection, router, &shared, &stopping);
    tokio::pin!(serving);
    tokio::select! {
        () = serving.as_mut() => {}
        () = connection.closed() => {
            if connection.ending() == Some(Ending::Reset) {
                tokio::time::sleep(RESET_DELAY).await;
            }
        }
    }
}

/// Serves requests, then lingers so that the client can read the last response.
async fn serve_requests(
    wire: ControlledSocket,
    connection: &Arc<ConnectionState>,
    router: Router,
    shared: &Shared,
    stopping: &CancellationToken,
) {
    let (router, state) = (TowerToHyperService::new(router), Arc::clone(connection));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&state));
        router.call(request)
    });
    let mut http = http1::Builder::new().max_header_size(HEAD_LIMIT).serve_connection(TokioIo::new(wire), service);
    let ended = tokio::select! {
        ended = poll_fn(|context| http.poll_without_shutdown(context)) => ended,
        () = stopping.cancelled() => {
            if connection.idle_since().is_none() {
                std::pin::Pin::new(&mut http).graceful_shutdown();
                // The client closed the connection.
                let _ = http.await;
            }
            return;
        }
    };
    let wire = http.into_parts().io.into_inner();
    let final_response = match ended {
        Ok(()) => None,
        Err(cause) if wire.has_suppressed_output() => {
            Some(unreadable(&cause, &shared.service.interpretation().switches))
        }
        // The HTTP library's own error left together with a response in flight.
        Err(cause) if cause.is_parse() => None,
        Err(_) => return,
    };
    connection.start_lingering();
    tokio::select! {
        // The client may close the connection first.
        _ = timeout(shared.limits.linger, close_lingering(wire, final_response)) => {}
        () = stopping.cancelled() => {}
    }
}

/// Sends the final response, if any, and reads until the client closes its side.
///
/// Closing a socket with unread bytes resets the connection, and the client loses the response.
async fn close_lingering(mut socket: ControlledSocket, final_response: Option<String>) -> IoResult<()> {
    if let Some(response) = final_response {
        socket.write_all(response.as_bytes()).await?;
    }
    socket.shutdown().await?;
    let (mut buffer, mut dropped) = (vec![0; READ], 0);
    while dropped < DROPPED {
        match socket.read(&mut buffer).await? {
            0 => break,
            bytes => dropped += bytes,
        }
    }
    Ok(())
}

/// The response to a head that the HTTP library could not parse. Its own has neither envelope nor `Server`.
fn unreadable(cause: &hyper::Error, switches: &Switches) -> String {
    let is_too_large = cause.is_parse_too_large();
    let status = if is_too_large { StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE } else { StatusCode::BAD_REQUEST };
    let problem = format!("the head of the request cannot be read: {cause}");
    let (status, envelope) = Refusal::Problem(status, problem).envelope(switches);
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nserver: {}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{envelope}",
        String::from_utf8_lossy(SERVER.as_bytes()),
        envelope.len()
    )
}
