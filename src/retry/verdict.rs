//! What a failure means for its request and for others, and what its headers ask for. The client decides it once;
//! policy and gate follow it.

use std::time::{Duration, SystemTime};

/// What a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What may help.
    pub remedy: Remedy,
    /// Whether all requests fail if those of several calls do. One request may be to blame for another failure, such as
    /// one for a day that is too large for the service.
    pub is_of_service: bool,
    /// Whether the request cannot have reached the service. Then no other can.
    pub is_unsent: bool,
    /// The byte at which the response was cut off.
    pub cut_off_at: Option<u64>,
}

/// What may help after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the failure is final.
    None,
    /// A retry with another token.
    NewToken,
    /// A retry at once: the service had closed the idle connection that the request was sent on.
    AtOnce,
    /// One retry after a back-off, as the failure may be an accident: the second of its kind is final.
    Once,
    /// Retries after back-offs.
    BackOff,
    /// A retry after a pause of all requests, for as long as the service asks if it says so.
    Pause(Option<Duration>),
}

/// A number of seconds this near to now, since 1970, is a Unix time.
const YEAR: Duration = Duration::from_secs(366 * 86_400);

/// The delay that the header asks for: seconds, a date, or a Unix time. `now` is the response's own `Date`, if it has one.
///
/// Returns nothing for an invalid header; our own back-off then applies.
pub fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        let asked = Duration::try_from_secs_f64(seconds).ok()?;
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        return if asked.abs_diff(now) < YEAR.min(now / 2) { asked.checked_sub(now) } else { Some(asked) };
    }
    let until = httpdate::parse_http_date(header).ok()?;
    until.duration_since(now).ok()
}

/// The delay that `retry-after-ms` asks for, in milliseconds; nothing for an invalid header.
pub fn retry_after_ms(header: &str) -> Option<Duration> {
    let milliseconds: f64 = header.trim().parse().ok()?;
    Duration::try_from_secs_f64(milliseconds / 1e3).ok()
}

/// What `x-should-retry` says; nothing for an invalid header.
pub fn should_retry(header: &str) -> Option<bool> {
    let says = |word: &str| header.trim().eq_ignore_ascii_case(word);
    if says("true") { Some(true) } else { says("false").then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of the standard.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn read(header: &str) -> Option<f64> {
        retry_after(header, SystemTime::UNIX_EPOCH + NOW).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn seconds_and_the_three_forms_of_a_date_are_read() {
        for (header, seconds) in [
            ("7", 7.0),
            (" 0 ", 0.0),
            ("1.5", 1.5),
            ("121", 121.0),
            ("784111779", 2.0),
            ("94608000", 94_608_000.0),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
            ("Sun Nov  6 08:50:37 1994", 60.0),
        ] {
            assert_eq!(read(header), Some(seconds), "{header}");
        }
    }

    #[test]
    fn milliseconds_and_the_word_of_the_service_are_read() {
        for (header, seconds) in [("1500", Some(1.5)), (" 0 ", Some(0.0)), ("-1", None), ("soon", None), ("nan", None)]
        {
            assert_eq!(retry_after_ms(header).map(|wait| wait.as_secs_f64()), seconds, "{header}");
        }
        for (header, word) in [("true", Some(true)), (" False", Some(false)), ("1", None), ("", None)] {
            assert_eq!(should_retry(header), word, "{header}");
        }
    }

    #[test]
    fn an_invalid_header_asks_for_nothing() {
        let junk = "|784111770|-10|-0.5|soon|7 s|nan|inf|-inf|1e400|100000000000000000000000000000000000\
            |Sun, 06 Nov 1994 08:48:37 GMT|Mon, 06 Nov 1994 08:50:37 GMT|Sun, 06 Nov 100000 08:50:37 GMT\
            |Sun, 31 Feb 1999 08:50:37 GMT|Sun, 06 Nov 1994 08:50:37|1994-11-06T08:50:37Z";
        for junk in junk.split('|') {
            assert_eq!(read(junk), None, "{junk}");
        }
    }
}
