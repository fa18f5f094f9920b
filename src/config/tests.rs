//! Settings: what is taken from where, and what is refused by name.

use super::*;

fn arguments() -> Arguments {
    Arguments {
        base_url: Some("https://cdp.example.com".to_owned()),
        timezone: "UTC".to_owned(),
        timeout: 300.0,
        retries: 3,
        concurrency: 8,
        rate: None,
        max_response_bytes: 8 << 30,
        ca_bundle: None,
        proxy: None,
        allow_http: false,
        headers: Vec::new(),
        strict: false,
        haste: 1,
    }
}

fn resolve(change: impl FnOnce(&mut Arguments)) -> Result<Settings> {
    let mut arguments = arguments();
    change(&mut arguments);
    Settings::resolve(arguments, |_| None)
}

#[test]
fn an_argument_wins_over_the_environment() {
    let environment = |name: &str| (name == environment::BASE_URL).then(|| "https://other.example.com/cdp/".to_owned());
    let given = Settings::resolve(arguments(), environment).expect("good settings");
    assert_eq!(given.base_url.as_str(), "https://cdp.example.com/");
    let taken = Settings::resolve(Arguments { base_url: None, ..arguments() }, environment).expect("good settings");
    assert_eq!(taken.base_url.as_str(), "https://other.example.com/cdp");
}

#[test]
fn an_address_that_leaks_or_cannot_work_is_refused_without_being_quoted() {
    for address in [
        "cdp.example.com",
        "ftp://cdp.example.com",
        "https://user:hunter2@cdp.example.com",
        "https://cdp.example.com?key=hunter2",
        "https://cdp.example.com#hunter2",
        "http://cdp.example.com",
        "http://127.0.0.1.example.com",
        "",
    ] {
        let error = resolve(|arguments| arguments.base_url = Some(address.to_owned())).expect_err(address);
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().contains("base_url="), "{}", error.message());
        assert!(!error.message().contains("hunter2"));
    }
}

#[test]
fn plain_http_is_for_this_machine_unless_allowed() {
    for address in ["http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1", "http://127.8.9.1"] {
        assert!(resolve(|arguments| arguments.base_url = Some(address.to_owned())).expect(address).is_loopback());
    }
    let far = resolve(|arguments| {
        arguments.base_url = Some("http://cdp.internal".to_owned());
        arguments.allow_http = true;
    });
    assert!(!far.expect("allowed").is_loopback());
}

#[test]
fn numbers_out_of_range_name_their_argument() {
    type Change = fn(&mut Arguments);
    let cases: [(&str, Change); 9] = [
        ("timeout=", |arguments| arguments.timeout = 0.0),
        ("timeout=", |arguments| arguments.timeout = f64::NAN),
        ("timeout=", |arguments| arguments.timeout = 1e12),
        ("retries=", |arguments| arguments.retries = -1),
        ("concurrency=", |arguments| arguments.concurrency = 0),
        ("rate=", |arguments| arguments.rate = Some(-2.0)),
        ("rate=", |arguments| arguments.rate = Some(1e-320)),
        ("max_response_bytes=", |arguments| arguments.max_response_bytes = 0),
        ("proxy=", |arguments| arguments.proxy = Some("socks://user:hunter2@p".to_owned())),
    ];
    for (name, change) in cases {
        let error = resolve(change).expect_err(name);
        assert!(error.message().starts_with(name), "{}", error.message());
        assert!(!error.message().contains("hunter2"));
    }
    assert_eq!(
        resolve(|arguments| arguments.rate = Some(4.0)).expect("good").interval,
        Some(Duration::from_millis(250))
    );
}

#[test]
fn headers_cannot_replace_our_own_or_break_the_request() {
    for (name, value) in [("Authorization", "x"), ("host", "x"), ("X-A\r\nB", "x"), ("X-A", "a\r\nB: c"), ("", "x")] {
        let header = (name.to_owned(), value.to_owned());
        assert!(resolve(|arguments| arguments.headers = vec![header]).is_err(), "{name}");
    }
    assert!(resolve(|arguments| arguments.headers = vec![("X-Tenant".to_owned(), "a b".to_owned())]).is_ok());
}
