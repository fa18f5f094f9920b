//! What the service survives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use dataaccess::sandbox::{Clock, Options};

use super::wire::{DOWNLOAD, Service, demo, export};

#[test]
fn a_panic_is_a_response_and_the_service_continues() {
    let broken = Arc::new(AtomicBool::new(false));
    let clock = {
        let broken = Arc::clone(&broken);
        Clock::new(move || {
            // The first look is within the operation.
            assert!(!broken.swap(false, Ordering::SeqCst), "the clock of this test is broken on purpose");
            SystemTime::now()
        })
    };
    let service = Service::start(Options { clock, ..demo() });
    for _ in 0..10 {
        broken.store(true, Ordering::SeqCst);
        service.post(DOWNLOAD, &export()).refuses(500, "the sandbox failed to respond");
    }
    assert_eq!(service.post(DOWNLOAD, &export()).status, 200);
}
