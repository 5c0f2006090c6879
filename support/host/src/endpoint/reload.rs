//! Files that are read again when they change.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::files::{Stamp, bytes};

/// How often a file is checked for changes.
const LOOK: Duration = Duration::from_secs(1);

/// Accepts a text, or returns what is wrong with it.
type Take = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A file and the receiver of its text. A text that cannot be read or is not accepted changes nothing.
pub(crate) struct Reload {
    path: PathBuf,
    max_bytes: u64,
    read: Option<Stamp>,
    take: Take,
}

impl Reload {
    /// The text of a file of at most `max_bytes`, and the reader that reads it again once it has a receiver.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn open(path: &Path, max_bytes: u64) -> Result<(String, Self), String> {
        let new = Self {
            path: path.to_owned(),
            max_bytes,
            read: Stamp::of(path).map_err(|error| error.to_string())?,
            take: Box::new(|_| Ok(())),
        };
        Ok((new.text()?, new))
    }

    /// Passes every later text to `take`, which returns what is wrong with it.
    pub(super) fn then(
        mut self,
        take: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.take = Box::new(take);
        self
    }

    /// Reads the file again whenever it changes, forever.
    pub(crate) async fn follow(mut self) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let now = Stamp::of(&self.path).unwrap_or_default();
            if now == self.read {
                continue;
            }
            self.read = now;
            let path = self.path.display();
            match self.text().and_then(|text| (self.take)(&text)) {
                Ok(()) => tracing::info!(%path, "read again, as it has changed"),
                Err(problem) => {
                    tracing::warn!(%path, problem, "has changed and cannot be used: what it said before counts");
                }
            }
        }
    }

    fn text(&self) -> Result<String, String> {
        let bytes = bytes(&self.path, self.max_bytes)?;
        io::read_to_string(&*bytes).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Reload({})", self.path.display())
    }
}
