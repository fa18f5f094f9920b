//! Closes a connection after its last response, and discards what still arrives.
//!
//! Closing a socket with unread bytes resets the connection, and the client loses the response.

use std::io::Result as IoResult;

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::reply::{Refusal, SERVER};
use super::switches::Switches;

/// Most bytes that are discarded.
const DROPPED: usize = 128 * 1024 * 1024;
/// Bytes that are read at once.
const READ: usize = 16 * 1024;

/// Sends the final response, if any, and reads until the client closes its side.
pub(super) async fn close(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    final_response: Option<String>,
) -> IoResult<()> {
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
pub(super) fn unreadable(cause: &hyper::Error, switches: &Switches) -> String {
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
