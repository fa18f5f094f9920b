//! Accepts connections, a limited number at a time, and serves each until one side closes it.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, SetOnce};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::options::Limits;
use super::routes::{self, Shared};

/// Most bytes of a head. The HTTP library itself limits it to 100 headers.
const HEAD_LIMIT: usize = 64 * 1024;
/// How long requests in flight may take once the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// Pause after a failed accept, as when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The connection of a request, which has it as an extension.
#[derive(Debug)]
pub(super) struct Connection {
    /// The local address, which the client connected to.
    pub(super) local: IpAddr,
    /// A request has arrived, or the client takes more of a response.
    pub(super) progress: Notify,
    /// How a fault closes it.
    pub(super) ending: SetOnce<Ending>,
}

/// How a fault closes a connection.
#[derive(Debug)]
pub(super) enum Ending {
    /// Properly, with FIN, behind these bytes.
    Close(Bytes),
    /// With RST.
    Reset,
}

impl Connection {
    /// A connection to this address.
    pub(super) fn new(local: IpAddr) -> Self {
        Self { local, progress: Notify::new(), ending: SetOnce::new() }
    }

    /// Closes the connection, which drops this future.
    pub(super) async fn end(&self, ending: Ending) {
        // The first ending wins.
        let _ = self.ending.set(ending);
        std::future::pending::<()>().await;
    }
}

/// Accepts and serves connections until the server stops.
pub(super) async fn serve(listener: TcpListener, shared: Shared, stopping: CancellationToken) {
    let limits = shared.limits;
    let (router, places) = (routes::router(shared), Arc::new(Semaphore::new(limits.connections as usize)));
    let accepting = async {
        // Clients without a place wait to be accepted.
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            if let Ok((socket, _)) = listener.accept().await {
                let serving = serve_connection(socket, router.clone(), limits, stopping.clone());
                tokio::spawn(async move {
                    serving.await;
                    drop(place);
                });
            } else {
                sleep(ACCEPT_PAUSE).await;
            }
        }
    };
    stopping.run_until_cancelled(accepting).await;
    drop(listener);
    // All places are free once all connections have ended. The end of the runtime drops the others.
    let _ = timeout(GRACE, places.acquire_many(limits.connections)).await;
}

async fn serve_connection(socket: TcpStream, router: Router, limits: Limits, stopping: CancellationToken) {
    let Ok(local) = socket.local_addr() else { return };
    // Without it small responses wait for an acknowledgement. A failure only makes them slower.
    let _ = socket.set_nodelay(true);
    let connection = Arc::new(Connection::new(local.ip()));
    let (router, extension) = (TowerToHyperService::new(router), Arc::clone(&connection));
    let service = service_fn(move |mut request: Request<Incoming>| {
        extension.progress.notify_one();
        request.extensions_mut().insert(Arc::clone(&extension));
        router.call(request)
    });
    let mut http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_header_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(socket), service);
    let serving = async {
        tokio::select! {
            ended = poll_fn(|context| http.poll_without_shutdown(context)) => return ended,
            () = stopping.cancelled() => {}
        }
        Pin::new(&mut http).graceful_shutdown();
        poll_fn(|context| http.poll_without_shutdown(context)).await
    };
    let stalled = async { while timeout(limits.stall, connection.progress.notified()).await.is_ok() {} };
    tokio::select! {
        ended = serving => if ended.is_err_and(|cause| cause.is_parse()) {
            // Unread bytes reset the connection, and the client would lose the refusal.
            let mut socket = http.into_parts().io.into_inner();
            let _ = socket.shutdown().await;
            let _ = timeout(limits.head, tokio::io::copy(&mut socket, &mut tokio::io::sink())).await;
        },
        ending = connection.ending.wait() => {
            let mut socket = http.into_parts().io.into_inner();
            // If one fails, the connection is closed properly instead.
            let _ = match ending {
                Ending::Close(bytes) => socket.write_all(bytes).await,
                Ending::Reset => socket.set_zero_linger(),
            };
        },
        () = stalled => {}
    }
}
