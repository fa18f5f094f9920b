//! Who can reach the service: this machine alone, unless others are allowed in so many words.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use dataaccess::error::Kind;
use dataaccess::sandbox::{Access, Options, Sandbox};

use super::wire::{DOWNLOAD, Service, demo, export};

const TOKEN: &str = "a-token-of-ones-own-of-32-characters";
const ADMIN_TOKEN: &str = "an-admin-token-of-ones-own-likewise";

fn start(access: Access) -> dataaccess::error::Result<Service> {
    let sandbox = Sandbox::start(Options { access, ..demo() })?;
    Ok(Service { sandbox, token: TOKEN.to_owned() })
}

fn remote(token: Option<&str>) -> Access {
    Access {
        address: Ipv4Addr::UNSPECIFIED.into(),
        allow_remote: true,
        token: token.map(str::to_owned),
        admin_token: Some(ADMIN_TOKEN.to_owned()),
        host_names: vec!["sandbox.example.com".to_owned()],
    }
}

fn refusal(access: Access) -> String {
    let error = start(access).err().expect("it does not start");
    assert_eq!(error.kind(), Kind::Config, "{error}");
    error.message().to_owned()
}

#[test]
fn remote_access_needs_permission_and_two_given_tokens() {
    let closed = Access { allow_remote: false, ..remote(Some(TOKEN)) };
    assert_eq!(refusal(closed.clone()), "host: 0.0.0.0 can be reached by other machines");
    let public = Access { address: Ipv4Addr::new(192, 0, 2, 1).into(), ..closed.clone() };
    assert_eq!(refusal(public), "host: 192.0.2.1 can be reached by other machines");
    let six = Access { address: Ipv6Addr::UNSPECIFIED.into(), ..closed };
    assert_eq!(refusal(six), "host: :: can be reached by other machines");
    let without_admin = Access { admin_token: None, ..remote(Some(TOKEN)) };
    for access in [remote(None), without_admin] {
        assert!(refusal(access).contains("needs two tokens of your own"));
    }
    let short = "t".repeat(31);
    for weak in ["", short.as_str(), "thirty-two characters and blanks", "line\r\nline-line-line-line-line-line"] {
        assert!(refusal(remote(Some(weak))).starts_with("token: it needs 32 or more"), "{weak}");
        let access = Access { admin_token: Some(weak.to_owned()), ..remote(Some(TOKEN)) };
        assert!(refusal(access).starts_with("admin_token: it needs 32 or more"), "{weak}");
    }
    // Of this machine alone, where nobody can try many.
    assert!(start(Access { token: Some("t".repeat(16)), ..Access::default() }).is_ok());
    assert!(refusal(Access { token: Some("t".repeat(15)), ..Access::default() }).contains("16 or more"));
    for name in ["", "http://x", "x:80", "*", "a b", "u@x"] {
        let access = Access { host_names: vec![name.to_owned()], ..Access::default() };
        assert!(refusal(access).contains("is not the name of a host"), "{name}");
    }
}

#[test]
fn whoever_is_allowed_addresses_it_by_a_name_it_was_given_or_its_address() {
    let service = start(remote(Some(TOKEN))).unwrap();
    assert!(service.address().starts_with("127.0.0.1:"), "{}", service.address());
    let send = |host: &str, token: &str| {
        let headers = [format!("Host: {host}"), format!("Authorization: Bearer {token}")];
        service.request(&format!("POST {DOWNLOAD}"), &headers.each_ref().map(String::as_str), &export().to_string())
    };
    for host in ["localhost", "127.0.0.1:80", "sandbox.example.com", "SANDBOX.example.com:8080"] {
        assert_eq!(send(host, TOKEN).status, 200, "{host}");
    }
    for host in ["evil.example", "example.com", "0.0.0.0", "192.0.2.1", "x.sandbox.example.com"] {
        send(host, TOKEN).refuses(403, "Host: the sandbox serves");
    }
    assert_eq!(send("localhost", "another-token-of-mine").json()["code"], 301);
}

#[test]
fn the_other_loopback_address_needs_no_permission() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let service = start(Access { address: IpAddr::V6(Ipv6Addr::LOCALHOST), ..Access::default() }).unwrap();
    assert!(service.sandbox.base_url().starts_with("http://[::1]:"), "{}", service.sandbox.base_url());
    let host = format!("Host: {}", service.address());
    assert_eq!(service.request("GET /", &[&host], "").status, 404);
    assert_eq!(service.request("GET /", &["Host: [::2]"], "").status, 403);
}
