//! The server: a listening socket and a thread with its own runtime, which serves a limited number of connections at a time,
//! each until one side closes it. It ends within two seconds.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder as ThreadBuilder, JoinHandle};
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use futures_util::FutureExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder as RuntimeBuilder;
use tokio::sync::{Notify, Semaphore, SetOnce};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::options::Limits;
use super::routes::{self, Shared};
use crate::error::{Error, Kind, Result};

/// How long to wait for running searches after all connections have ended.
const SEARCH_GRACE: Duration = Duration::from_millis(500);

/// A server that runs until it is stopped.
pub(super) struct Server {
    address: SocketAddr,
    /// Cancelled once it stops.
    pub(super) stopping: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens on an address and serves there, until it is stopped.
    pub(super) fn start(at: SocketAddr, shared: Shared) -> Result<Self> {
        let failed = |what: &str, cause: io::Error| {
            Error::new(Kind::Sandbox, format!("the sandbox cannot {what}: {cause}")).with_source(cause)
        };
        let runtime = RuntimeBuilder::new_current_thread()
            .enable_all()
            // A search does not wait for loads, so each connection can have a thread. Idle threads end.
            .max_blocking_threads(shared.limits.connections as usize)
            .thread_name("dataaccess-sandbox-search")
            .build()
            .map_err(|cause| failed("start its runtime", cause))?;
        let listener = {
            // Nothing waits here: the caller may be in a runtime of its own.
            let _context = runtime.enter();
            let bound = TcpListener::bind(at).now_or_never().unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()));
            bound.map_err(|cause| failed(&format!("listen on {at}"), cause).with_hint("port 0 takes a free one"))?
        };
        let address = listener.local_addr().map_err(|cause| failed("read its port", cause))?;
        let stopping = CancellationToken::new();
        let stop = stopping.clone();
        let thread = ThreadBuilder::new()
            .name("dataaccess-sandbox".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, shared, stop));
                runtime.shutdown_timeout(SEARCH_GRACE);
            })
            .map_err(|cause| failed("start its thread", cause))?;
        Ok(Self { address, stopping, thread: Mutex::new(Some(thread)) })
    }

    /// The address for clients on this machine.
    pub(super) fn address(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        address
    }

    /// Stops and waits for the end. A second call does nothing.
    pub(super) fn stop(&self) {
        self.stopping.cancel();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panicked thread has ended too.
            let _ = thread.join();
        }
    }
}

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

#[derive(Debug)]
pub(super) enum Ending {
    /// Properly, with FIN, behind these bytes.
    Close(Bytes),
    Reset,
}

impl Connection {
    /// Closes the connection, which drops this future.
    pub(super) async fn end(&self, ending: Ending) {
        // The first ending wins.
        let _ = self.ending.set(ending);
        std::future::pending::<()>().await;
    }
}

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
    let connection = Arc::new(Connection { local: local.ip(), progress: Notify::new(), ending: SetOnce::new() });
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
