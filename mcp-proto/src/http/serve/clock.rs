//! hyper's clock for the heads of requests: it costs a look at the time and no timer.
//!
//! A timer that is set with each request and taken back as soon as its head is there costs a fiftieth of a small call.
//! These waits wake nobody. The connection has one timer of its own, [`CHECKS`] times in the time that a head may take,
//! and whatever wakes a connection has hyper look at them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// How often a connection is woken in the time that a head may take.
pub(super) const CHECKS: u32 = 4;

/// The clock of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock;

/// A wait whose end is seen by whoever looks at it.
#[derive(Debug)]
struct Until(Instant);

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until(deadline))
    }
}

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match Instant::now() < self.0 {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Sleep for Until {}
