//! `rate=`: the least time between the starts of two requests, over all callers of one client.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub(super) struct Pace {
    interval: Option<Duration>,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn new(interval: Option<Duration>) -> Self {
        Self { interval, next: Mutex::new(None) }
    }

    /// Waits for this request's turn. One that is cancelled while it waits leaves its turn unused.
    pub(super) async fn turn(&self) {
        let Some(interval) = self.interval else { return };
        let mine = {
            let mut next = self.next.lock().await;
            let mine = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(mine + interval);
            mine
        };
        sleep_until(mine).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_start_an_interval_apart_and_idle_time_is_not_saved_up() {
        let pace = Pace::new(Some(Duration::from_millis(100)));
        let start = Instant::now();
        pace.turn().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        pace.turn().await;
        pace.turn().await;
        assert_eq!(start.elapsed(), Duration::from_millis(200));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let later = Instant::now();
        pace.turn().await;
        pace.turn().await;
        assert_eq!(later.elapsed(), Duration::from_millis(100));
    }
}
