//! The HTTP surface: paths, methods, sizes, and who may speak to the service at all.

use std::io::{Read, Write};
use std::sync::LazyLock;

use super::wire::{DOWNLOAD, Reply, SEARCH, Service, export};

static SERVICE: LazyLock<Service> = LazyLock::new(Service::demo);

fn host() -> String {
    format!("Host: {}", SERVICE.address())
}

fn bearer() -> String {
    format!("Authorization: Bearer {}", SERVICE.token)
}

#[test]
fn only_local_names_are_served() {
    let port = SERVICE.address().rsplit(':').next().unwrap();
    let (body, bearer) = (export().to_string(), bearer());
    let send = |host: &str| SERVICE.request(&format!("POST {DOWNLOAD}"), &[host, &bearer], &body);
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
        assert_eq!(send(&format!("Host: {host}:{port}")).status, 200, "{host}");
        assert_eq!(send(&format!("Host: {host}")).status, 200, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil@localhost",
        "0.0.0.0",
        "127.0.0.2",
        "",
    ] {
        send(&format!("Host: {host}")).refuses(403, "host_names adds another");
    }
    send("X-Host: none").refuses(403, "Host: the sandbox serves");
    send("Host: localhost\r\nHost: evil.example").refuses(403, "Host: the sandbox serves");
    SERVICE.request(&format!("POST http://evil.example{DOWNLOAD}"), &[&host(), &bearer], &body).refuses(403, "Host");
}

#[test]
fn only_its_own_origin_is_served() {
    let (body, bearer) = (export().to_string(), bearer());
    let send = |origin: &str| {
        SERVICE.request(&format!("POST {DOWNLOAD}"), &[&host(), &bearer, &format!("Origin: {origin}")], &body)
    };
    assert_eq!(send(SERVICE.sandbox.base_url()).status, 200);
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost", ""] {
        send(origin).refuses(403, "Origin: the sandbox serves no web page but its own");
    }
    let preflight = SERVICE.request(&format!("OPTIONS {SEARCH}"), &[&host(), "Origin: https://evil.example"], "");
    preflight.refuses(403, "Origin");
    assert_eq!(preflight.header("access-control-allow-origin"), None);
}

#[test]
fn a_body_is_measured_as_it_is_read() {
    let mut stream = SERVICE.connect();
    write!(stream, "POST {SEARCH} HTTP/1.1\r\n{}\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n", host(), bearer())
        .unwrap();
    let chunk = vec![b' '; 64 * 1024];
    for _ in 0..80 {
        write!(stream, "{:x}\r\n", chunk.len()).unwrap();
        stream.write_all(&chunk).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    Reply::read(stream).refuses(413, "larger than 4194304 bytes");
}

#[test]
fn who_sends_on_after_a_refusal_still_reads_it() {
    let body = vec![b' '; 16 * 1024 * 1024];
    for headers in ["Content-Encoding: gzip", "Host: evil.example", "X: y"] {
        let mut stream = SERVICE.connect();
        let length = body.len();
        write!(stream, "POST {SEARCH} HTTP/1.1\r\n{}\r\n{headers}\r\nContent-Length: {length}\r\n\r\n", host())
            .unwrap();
        stream.write_all(&body).unwrap_or_else(|problem| panic!("{headers}: {problem}"));
        assert!([413, 415, 403].contains(&Reply::read(stream).status));
    }
}

#[test]
fn a_head_that_is_none_or_too_large_is_refused() {
    let said = |head: &str| {
        let mut stream = SERVICE.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("a response up to its end");
        said
    };
    for head in [
        "GARBAGE\r\n\r\n".to_owned(),
        format!("POST {SEARCH} HTTP/1.1\r\na header without a colon\r\n\r\n"),
        format!("POST {SEARCH} HTTP/1.1\r\n{}\r\nContent-Length: -1\r\n\r\n", host()),
        format!("GET / HTTP/1.1\r\n{}\r\n\r\nGARBAGE\r\n\r\n", host()),
    ] {
        let said = said(&head);
        let last = said.rfind("HTTP/1.1 ").expect("a response");
        assert!(said[last..].starts_with("HTTP/1.1 400 Bad Request\r\n"), "{said}");
    }
    let many = "X: y\r\n".repeat(150);
    let long = "y".repeat(200_000);
    for head in [format!("GET / HTTP/1.1\r\n{many}\r\n"), format!("GET /{long} HTTP/1.1\r\n\r\n")] {
        assert!(said(&head).starts_with("HTTP/1.1 431 "));
    }
}

#[test]
fn a_body_of_a_declared_size_too_large_is_refused_unread() {
    let mut stream = SERVICE.connect();
    write!(stream, "POST {SEARCH} HTTP/1.1\r\n{}\r\n{}\r\nContent-Length: 4194305\r\n\r\n", host(), bearer()).unwrap();
    let mut response = vec![0; 4096];
    let read = stream.read(&mut response).unwrap();
    Reply::parse(&response[..read]).refuses(413, "larger than 4194304 bytes");
}
