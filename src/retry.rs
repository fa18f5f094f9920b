//! When to send again, and after how long. Pure: clock and chance are passed in, nothing sleeps here.

use std::time::{Duration, SystemTime};

use crate::error::{Error, Field, Kind};

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Requests sent after the first.
    pub retries: u32,
    /// First back-off after a lost connection or a failing service.
    pub base: Duration,
    /// First back-off when the service asks to slow down.
    pub throttled_base: Duration,
    /// Longest back-off of our own.
    pub cap: Duration,
    /// Longest wait the service may ask for; above it the error is told at once.
    pub max_retry_after: Duration,
}

impl Policy {
    /// The defaults with so many retries.
    #[must_use]
    pub const fn new(retries: u32) -> Self {
        Self {
            retries,
            base: Duration::from_millis(50),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(120),
        }
    }

    /// How long to wait before sending again, or nothing when this failure is final.
    ///
    /// `attempts` counts the requests sent so far; `idempotent` says that sending twice does no harm;
    /// `chance` is uniform in 0 to 1.
    #[must_use]
    pub fn delay(&self, attempts: u32, failure: &Error, idempotent: bool, chance: f64) -> Option<Duration> {
        // What mangles one answer, or leaves nothing of it, may be an accident; where two are so, all will be.
        let is_empty =
            failure.kind() == Kind::TruncatedResponse && failure.field("received") == Some(&Field::Integer(0));
        let once_more = is_empty || failure.kind() == Kind::MalformedHttp;
        let retries = if once_more { self.retries.min(1) } else { self.retries };
        if attempts > retries || !failure.is_retryable() {
            return None;
        }
        // A connection that never came about has carried nothing.
        if !idempotent && !matches!(failure.kind(), Kind::Connect | Kind::Proxy) {
            return None;
        }
        let base = if failure.kind() == Kind::Throttled { self.throttled_base } else { self.base };
        let ceiling = base.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.cap);
        let own = ceiling.mul_f64(chance.clamp(0.0, 1.0));
        match failure.field("retry_after") {
            Some(Field::Number(seconds)) => {
                let asked = Duration::try_from_secs_f64(*seconds).ok()?;
                (asked <= self.max_retry_after).then(|| own.max(asked))
            }
            _ => Some(own),
        }
    }
}

/// What a `Retry-After` header asks for: seconds, or a date measured against the answer's own `Date`.
///
/// Nothing when it is absent or makes no sense; our own back-off then holds.
#[must_use]
pub fn retry_after(header: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(header).ok()?;
    let from = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    until.duration_since(from).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: Kind) -> Error {
        Error::new(kind, "made up").retryable()
    }

    #[test]
    fn back_off_doubles_up_to_the_cap_and_is_fully_jittered() {
        let policy = Policy::new(100);
        let server = failure(Kind::Server);
        let longest: Vec<u128> = [1, 2, 3, 9, 10, 60]
            .iter()
            .map(|attempts| policy.delay(*attempts, &server, true, 1.0).expect("a delay").as_millis())
            .collect();
        assert_eq!(longest, [50, 100, 200, 12_800, 20_000, 20_000]);
        assert_eq!(policy.delay(3, &server, true, 0.0), Some(Duration::ZERO));
        assert_eq!(policy.delay(3, &server, true, 0.5), Some(Duration::from_millis(100)));
        assert_eq!(policy.delay(1, &failure(Kind::Throttled), true, 1.0), Some(Duration::from_secs(1)));
    }

    #[test]
    fn no_retries_sends_one_request() {
        assert_eq!(Policy::new(0).delay(1, &failure(Kind::Server), true, 0.5), None);
        assert!(Policy::new(1).delay(1, &failure(Kind::Server), true, 0.5).is_some());
        assert_eq!(Policy::new(1).delay(2, &failure(Kind::Server), true, 0.5), None);
    }

    #[test]
    fn what_cannot_mend_itself_is_not_sent_again() {
        assert_eq!(Policy::new(9).delay(1, &Error::new(Kind::PermissionDenied, "no"), true, 0.5), None);
    }

    #[test]
    fn an_answer_that_is_mangled_or_empty_is_asked_for_once_more() {
        let mangled = failure(Kind::MalformedHttp);
        assert!(Policy::new(9).delay(1, &mangled, true, 0.5).is_some());
        assert_eq!(Policy::new(9).delay(2, &mangled, true, 0.5), None);
        assert_eq!(Policy::new(0).delay(1, &mangled, true, 0.5), None);
        let truncated = |received: u64| failure(Kind::TruncatedResponse).with("received", received);
        assert!(Policy::new(9).delay(1, &truncated(0), true, 0.5).is_some());
        assert_eq!(Policy::new(9).delay(2, &truncated(0), true, 0.5), None);
        assert!(Policy::new(9).delay(2, &truncated(1), true, 0.5).is_some());
    }

    #[test]
    fn what_may_have_arrived_is_sent_again_only_when_that_is_harmless() {
        let policy = Policy::new(3);
        assert_eq!(policy.delay(1, &failure(Kind::ConnectionLost), false, 0.5), None);
        assert!(policy.delay(1, &failure(Kind::ConnectionLost), true, 0.5).is_some());
        assert!(policy.delay(1, &failure(Kind::Connect), false, 0.5).is_some());
    }

    #[test]
    fn the_service_may_ask_for_longer_but_not_for_too_long() {
        let policy = Policy::new(3);
        let asks = |seconds: f64| {
            let error = failure(Kind::Throttled).with("retry_after", Field::Number(seconds));
            policy.delay(1, &error, true, 0.5)
        };
        assert_eq!(asks(0.0), Some(Duration::from_millis(500)));
        assert_eq!(asks(7.0), Some(Duration::from_secs(7)));
        assert_eq!(asks(121.0), None);
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms_and_junk_is_ignored() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |header: &str| retry_after(header, None, now).map(|wait| wait.as_secs());
        assert_eq!(read("7"), Some(7));
        assert_eq!(read(" 0 "), Some(0));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(read("Sunday, 06-Nov-94 08:50:37 GMT"), Some(60));
        assert_eq!(read("Sun Nov  6 08:50:37 1994"), Some(60));
        for junk in ["", "-10", "soon", "nan", "inf", "1e400", "Sun, 06 Nov 1994 08:48:37 GMT"] {
            assert_eq!(read(junk), None, "{junk}");
        }
        let skewed = retry_after("Sun, 06 Nov 1994 09:50:37 GMT", Some("Sun, 06 Nov 1994 09:49:37 GMT"), now);
        assert_eq!(skewed, Some(Duration::from_secs(60)));
    }
}
