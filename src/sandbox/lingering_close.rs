//! The end of a connection: the last words are said, and what still comes is read and dropped.
//!
//! A socket closed with bytes unread resets the connection, and the client loses the answer that tells it why.
//! What the last words are about was decided before.

use std::io::Result as IoResult;

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::reply::{Refusal, SERVER};
use super::switches::Switches;

/// Most bytes that are dropped.
const DROPPED: usize = 128 * 1024 * 1024;
/// Bytes that are read at once.
const READ: usize = 16 * 1024;

/// Says the last words, if there are any, and waits until the client has no more to say.
pub(super) async fn part(mut socket: impl AsyncRead + AsyncWrite + Unpin, last_words: Option<String>) -> IoResult<()> {
    if let Some(words) = last_words {
        socket.write_all(words.as_bytes()).await?;
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

/// The answer to a head that the HTTP library could not read. Its own has neither envelope nor `Server`.
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
