//! One writer at a time: threads of this process wait for each other, and so do several servers on one repository.

use std::fs::{File, TryLockError};
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Project;
use super::error::ReadError;

/// How long a writer waits for another program.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it looks whether the other one has finished.
const LOOK: Duration = Duration::from_millis(5);

/// While this guard is held, no other thread and no other server writes to the project.
#[derive(Debug)]
pub(crate) struct Writing<'p> {
    _thread: MutexGuard<'p, ()>,
    _program: Option<File>,
}

impl Project {
    /// Waits until nothing else writes to the project. The lock of the system is advisory and on the root folder
    /// itself, so it leaves no file, and ends with the program. Where a folder cannot be locked, the check of each file
    /// before it is replaced has to do.
    ///
    /// # Errors
    /// Another program has held the lock for ten seconds.
    pub(crate) fn writing(&self) -> Result<Writing<'_>, ReadError> {
        let thread = self.inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(folder) = File::open(self.root()) else {
            return Ok(Writing { _thread: thread, _program: None });
        };
        let begun = Instant::now();
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Writing { _thread: thread, _program: Some(folder) }),
                Err(TryLockError::Error(_)) => {
                    return Ok(Writing { _thread: thread, _program: None });
                }
                Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                    return Err(ReadError::Refused {
                        path: self.root().to_owned(),
                        problem: "another program has been writing here for ten seconds; try again"
                            .to_owned(),
                    });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
            }
        }
    }
}
