//! Settings: which are refused, and what the environment adds.

use super::*;

/// Arguments that resolve.
pub(crate) fn arguments() -> Arguments {
    Arguments { base_url: Some("https://cdp.example.com".to_owned()), ..Arguments::default() }
}

fn resolve(change: impl FnOnce(&mut Arguments)) -> Result<Settings> {
    let mut arguments = arguments();
    change(&mut arguments);
    Settings::resolve(arguments, |_| None)
}

#[test]
fn a_result_takes_half_of_the_memory_unless_an_argument_says_so() {
    let limit =
        |given| resolve(|arguments| arguments.max_result_bytes = given).expect("good settings").max_result_bytes;
    assert_eq!((limit(None), limit(Some(7))), (memory::half(), 7));
}

#[test]
fn a_base_url_that_leaks_or_cannot_work_is_refused_without_being_quoted_and_with_the_one_to_write() {
    for (address, right) in [
        ("ftp://cdp.example.com", ""),
        ("https://user:hunter2@cdp.example.com", ""),
        ("https://cdp.example.com?key=hunter2", ""),
        ("https://cdp.example.com#hunter2", ""),
        ("http://cdp.example.com", ""),
        ("http://127.0.0.1.example.com", ""),
        (r"https://hunter2\@cdp.example.com", ""),
        (r"https:\\cdp.example.com", ""),
        ("https://cdp.\texample.com", ""),
        ("https://cdp.example.com/a\nb", ""),
        ("https:cdp.example.com", ""),
        ("https:/cdp.example.com", ""),
        ("https:///cdp.example.com", ""),
        ("", ""),
        ("localhost:18080", " http://localhost:18080"),
        ("127.0.0.1:8080/cdp/", " http://127.0.0.1:8080/cdp"),
        ("cdp.example.com", " https://cdp.example.com"),
        ("cdp.example.com:8443?key=hunter2", " https://cdp.example.com:8443"),
        ("sandbox", " \"sandbox:demo\""),
        ("https://cdp.example.com/access/api/item/search", " https://cdp.example.com"),
        ("https://cdp.example.com:8443/cdp/access/api/segment/download/", " https://cdp.example.com:8443/cdp"),
    ] {
        let error = resolve(|arguments| arguments.base_url = Some(address.to_owned())).expect_err(address);
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().starts_with("base_url "), "{}", error.message());
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(right.is_empty() || error.hint().is_some_and(|hint| hint.ends_with(right)), "{error:?}");
    }
    assert!(resolve(|arguments| arguments.base_url = Some("https://cdp.example.com/access/api".to_owned())).is_ok());
}

#[test]
fn an_origin_is_that_of_the_requests_and_only_of_urls_that_clients_accept() {
    for (address, expected) in [
        ("https://CDP.example.com:443/a/", Some("https://cdp.example.com")),
        (" http://cdp.example.com:8080\n", Some("http://cdp.example.com:8080")),
        ("http://127.1", Some("http://127.0.0.1")),
        (r"http://evil\@good", None),
        ("http:good", None),
        ("sandbox:demo", None),
    ] {
        assert_eq!(origin(address).as_deref(), expected, "{address}");
    }
    assert!(is_of_this_machine("http://127.1:8080") && is_of_this_machine("https://LOCALHOST"));
    assert!(!is_of_this_machine("https://localhost.example.com") && !is_of_this_machine(r"http://evil\@localhost"));
}

#[test]
fn the_environment_is_read_where_it_is_trusted_and_no_setting_says_otherwise() {
    let environment = |name: &str| (name == "HTTPS_PROXY" || name == "SSL_CERT_FILE").then(|| "http://p:1".to_owned());
    let origins = |trust_env, sources: &[&str]| {
        let sources = sources.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        let given = Arguments { sources, trust_env, ..arguments() };
        let origins = Settings::resolve(given, environment).expect("good settings").connection.origins();
        origins.into_iter().map(|(setting, ..)| setting).collect::<Vec<_>>()
    };
    assert_eq!(origins(true, &[]), ["proxy", "ca_bundle"]);
    assert_eq!(origins(true, &["proxy"]), ["ca_bundle"]);
    assert_eq!(origins(true, &["ca_bundle"]), ["proxy"]);
    assert!(origins(false, &[]).is_empty());
}

#[test]
fn each_error_has_the_source_of_its_setting() {
    let error = resolve(|arguments| {
        arguments.timeout = -1.0;
        arguments.retry_for = -1.0;
        arguments.base_url = Some("http://cdp.example.com".to_owned());
        for (name, source) in [("timeout", " (from X)"), ("base_url", " (profile p in f)"), ("retry_for", "")] {
            arguments.sources.insert(name.to_owned(), source.to_owned());
        }
    });
    let problems = error.expect_err("three invalid settings").details().problems.clone().expect("problems");
    assert!(problems[0].starts_with("base_url ") && problems[0].contains(" (profile p in f)"));
    assert!(problems[1].starts_with("timeout ") && problems[1].ends_with(" (from X)"), "{problems:?}");
    assert!(problems[2].starts_with("retry_for ") && problems[2].ends_with(" -1"), "{problems:?}");
}

#[test]
fn python_passes_the_settings_by_name() {
    let read = |json| serde_json::from_value::<Arguments>(json).map_err(|error| error.to_string());
    let read_one =
        read(serde_json::json!({"day_comparison": "inclusive", "headers": [["X-A", "b"]]})).expect("settings");
    assert_eq!(read_one.day_comparison, DayComparison::Inclusive);
    assert_eq!(read_one.headers, [("X-A".to_owned(), "b".to_owned())]);
    assert_eq!((read_one.timeout, read_one.trust_env), (300.0, true));
    assert!(read(serde_json::json!({"timeuot": 1})).is_err_and(|error| error.contains("timeuot")));
}

#[test]
fn all_invalid_settings_are_reported_together() {
    let error = resolve(|arguments| {
        arguments.base_url = None;
        arguments.timeout = -1.0;
        arguments.timezone = "Berlin".to_owned();
        arguments.source_timezone = "Hanoi".to_owned();
        arguments.known_row_cap = Some(0);
        arguments.proxy = Some("socks://user:hunter2@p".to_owned());
        arguments.headers = vec![("Host".to_owned(), "x".to_owned())];
    });
    let error = error.expect_err("seven invalid settings");
    let names = ["base_url", "proxy", "timezone", "source_timezone", "timeout", "headers", "known_row_cap"];
    let problems = error.details().problems.clone().expect("problems");
    for (name, problem) in names.iter().zip(&problems) {
        assert!(problem.contains(name), "{problem}");
    }
    assert_eq!(error.details().problems.as_ref().map(Vec::len), Some(7));
    assert!(!error.message().contains("hunter2"));
    let one = resolve(|arguments| arguments.timeout = -1.0).expect_err("one invalid setting");
    assert!(one.message().starts_with("timeout "), "{one}");
    assert_eq!(one.details().problems.as_ref().map(Vec::len), Some(1));
}

#[test]
fn plain_http_is_for_loopback_unless_allowed() {
    for address in ["http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1", "http://127.8.9.1"] {
        assert!(resolve(|arguments| arguments.base_url = Some(address.to_owned())).is_ok(), "{address}");
    }
    let far = resolve(|arguments| {
        arguments.base_url = Some("http://cdp.internal".to_owned());
        arguments.allow_http = true;
    });
    assert!(!far.expect("allowed").connection.uses_tls());
}

#[test]
fn the_most_specific_ca_setting_wins() {
    let variables = ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"];
    let trusted = |setting: Option<&str>, set: &[&str]| {
        let lookup = |name: &str| set.contains(&name).then(|| format!("/of/{name}"));
        Trust::resolve(setting.map(PathBuf::from), lookup).to_string()
    };
    assert_eq!(trusted(Some("/given"), &variables), "ca_bundle=/given");
    assert_eq!(trusted(None, &variables), "SSL_CERT_FILE=/of/SSL_CERT_FILE, SSL_CERT_DIR=/of/SSL_CERT_DIR");
    assert_eq!(trusted(None, &variables[1..]), "SSL_CERT_DIR=/of/SSL_CERT_DIR");
    assert_eq!(trusted(None, &variables[2..]), "REQUESTS_CA_BUNDLE=/of/REQUESTS_CA_BUNDLE");
    assert_eq!(trusted(None, &[]), "the system's CA certificates");
}

#[test]
fn every_variable_that_is_read_is_listed() {
    let read = std::cell::RefCell::new(Vec::new());
    for address in ["https://cdp.example.com", "http://cdp.example.com"] {
        let lookup = |name: &str| {
            read.borrow_mut().push(name.to_owned());
            // The list of exempt hosts is read only if there is a proxy.
            (name == "ALL_PROXY").then(|| "http://proxy".to_owned())
        };
        let given = Arguments { base_url: Some(address.to_owned()), allow_http: true, ..arguments() };
        assert!(Settings::resolve(given, lookup).is_ok());
    }
    let (mut read, mut listed) = (read.into_inner(), environment::ALL.map(str::to_owned).to_vec());
    read.sort();
    read.dedup();
    listed.sort();
    assert_eq!(read, listed);
}

#[test]
fn values_out_of_range_name_their_setting() {
    type Change = fn(&mut Arguments);
    let cases: [(&str, Change); 11] = [
        ("timeout", |arguments| arguments.timeout = 0.0),
        ("timeout", |arguments| arguments.timeout = f64::NAN),
        ("timeout", |arguments| arguments.timeout = 1e12),
        ("concurrency", |arguments| arguments.concurrency = Some(0)),
        ("retry_for", |arguments| arguments.retry_for = -1.0),
        ("retry_for", |arguments| arguments.retry_for = f64::INFINITY),
        ("requests_per_second", |arguments| arguments.requests_per_second = Some(-2.0)),
        ("requests_per_second", |arguments| arguments.requests_per_second = Some(1e-320)),
        ("max_result_bytes", |arguments| arguments.max_result_bytes = Some(0)),
        ("known_row_cap", |arguments| arguments.known_row_cap = Some(-1)),
        ("proxy", |arguments| arguments.proxy = Some("socks://user:hunter2@p".to_owned())),
    ];
    for (name, change) in cases {
        let error = resolve(change).expect_err(name);
        assert!(error.message().starts_with(name), "{}", error.message());
        assert!(!error.message().contains("hunter2"));
    }
    assert_eq!(
        resolve(|arguments| arguments.requests_per_second = Some(4.0)).expect("good").interval,
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

#[test]
fn proxy_and_certificates_are_shown_with_their_origin_and_without_a_password() {
    let environment = |name: &str| match name {
        "HTTPS_PROXY" => Some("http://user:hunter2@proxy:3128".to_owned()),
        "SSL_CERT_FILE" => Some("/etc/ca.pem".to_owned()),
        "NO_PROXY" => Some("exempt.example.com".to_owned()),
        _ => None,
    };
    let used = |url: &str| {
        let arguments = Arguments { base_url: Some(url.to_owned()), ..arguments() };
        Settings::resolve(arguments, environment).expect("good settings").connection.origins()
    };
    let proxy = ("proxy", "proxy:3128".to_owned(), Origin::Environment("HTTPS_PROXY"));
    let files = ("ca_bundle", "/etc/ca.pem".to_owned(), Origin::Environment("SSL_CERT_FILE"));
    assert_eq!(used("https://cdp.example.com"), [proxy, files.clone()]);
    assert_eq!(used("https://exempt.example.com"), [files]);
    assert!(resolve(|_| ()).expect("good settings").connection.origins().is_empty());
}
