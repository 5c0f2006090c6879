//! The memory of another process, as Linux reports it.

use std::fs;

use xtask::Result;

/// A process by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    /// Whether it is running. A process that ended but was not waited for is not.
    pub(crate) fn lives(self) -> bool {
        self.field("State:").is_ok_and(|state| !state.starts_with(['Z', 'X']))
    }

    /// Its current resident memory, in MiB.
    ///
    /// # Errors
    /// When it has ended.
    pub(crate) fn now(self) -> Result<u64> {
        self.mebibytes("VmRSS:")
    }

    /// Its peak resident memory since the last [`Process::forget_peak`], in MiB.
    ///
    /// # Errors
    /// When it has ended.
    pub(crate) fn peak(self) -> Result<u64> {
        self.mebibytes("VmHWM:")
    }

    /// Resets the peak.
    ///
    /// # Errors
    /// When it has ended.
    pub(crate) fn forget_peak(self) -> Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.0), "5")?)
    }

    fn mebibytes(self, name: &str) -> Result<u64> {
        let field = self.field(name)?;
        let number = field.split_whitespace().next().unwrap_or_default();
        Ok(number.parse::<u64>()? / 1_024)
    }

    fn field(self, name: &str) -> Result<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let field = status.lines().find_map(|line| line.strip_prefix(name));
        let field =
            field.ok_or_else(|| format!("/proc does not show {name}: the siege needs Linux"))?;
        Ok(field.trim().to_owned())
    }
}
