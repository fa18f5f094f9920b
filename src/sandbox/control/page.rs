//! The page to look at. Its policy lets nothing run or load but what is in it.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, header};

use super::token::nonce;

/// The page; each `{nonce}` is replaced by a random text.
const PAGE: &str = include_str!("page.html");

/// The page with its headers. It holds no data: its scripts ask for the admin token.
pub(super) fn page() -> Option<Response<Body>> {
    let nonce = nonce().ok()?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Response::new(Body::from(PAGE.replace("{nonce}", &nonce)));
    let fixed: [(HeaderName, &'static str); 3] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::try_from(policy).ok()?);
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_one_file_that_names_no_other_host() {
        assert_eq!(PAGE.matches("{nonce}").count(), 2);
        for loaded in ["http://", "https://", "src=", "@import", "url(", "innerHTML", "style=", " onclick"] {
            assert!(!PAGE.contains(loaded), "{loaded}");
        }
    }
}
