//! `Retry-After` of any bytes: a delay is that of its integer or of httpdate's date, and no pause is longer than
//! `retry_for=`.

#![no_main]

use std::time::{Duration, SystemTime};

use dataaccess::retry::{Pause, Policy, retry_after};
use dataaccess_fuzz::Choices;

/// The example of RFC 9110, 6 November 1994.
const NOW: u64 = 784_111_777;

libfuzzer_sys::fuzz_target!(|header: &[u8]| {
    let Ok(header) = str::from_utf8(header) else { return };
    let mut choices = Choices::of(header.as_bytes());
    let seconds = *choices.one(&[0, 1, NOW - 86_400, NOW, NOW + 1, 253_402_300_799]);
    let now = SystemTime::UNIX_EPOCH + Duration::new(seconds, choices.below(1_000_000_000) as u32);
    let asked = retry_after(header, now);

    let text = header.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        match text.parse::<u64>() {
            Ok(seconds) if seconds < 1 << 53 => assert_eq!(asked, Some(Duration::from_secs(seconds))),
            // Longer than a float holds exactly, or than a duration.
            _ => assert!(asked.is_none_or(|asked| asked.as_secs() >= 1 << 53)),
        }
    } else if let Ok(date) = httpdate::parse_http_date(text) {
        assert_eq!(asked, date.duration_since(now).ok());
    } else if let Some(asked) = asked {
        let seconds: f64 = text.parse().expect("a number");
        assert!((asked.as_secs_f64() - seconds).abs() <= seconds.abs() * 1e-9 + 1e-9, "{asked:?}");
    }

    let retry_for = Duration::from_secs(choices.below(100_000) as u64);
    let pause = Policy::new(retry_for, None).pause(Pause { asked });
    assert!(pause.is_none_or(|pause| pause <= retry_for));
});
