//! Calls over a server's stdin and stdout.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::contestant::Program;
use super::exchange::{self, Message};
use super::figure::count_of;
use super::load;
use crate::era::Era;
use xtask::Result;

/// How long the load runs before the measurement starts.
const WARM_UP: Duration = Duration::from_millis(200);
/// The size of one read, in bytes.
const READ: usize = 64 << 10;
/// The maximum length of a line, in bytes.
const MAX_LINE: usize = 1 << 20;

/// A server on pipes. It is killed when this is dropped.
pub(super) struct Pipe {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// The bytes that were read but not consumed.
    read: Vec<u8>,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // Both fail only if the child has already ended, which is the goal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Pipe {
    /// Starts a server, and initializes it in the older era.
    ///
    /// # Errors
    /// When it does not start or answer.
    pub(super) fn open(program: &Program, era: Era) -> Result<Self> {
        let mut command = Command::new(&program.path);
        command.args(program.on_stdio());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = child.stdout.take().ok_or("no stdout")?;
        let mut pipe = Self { child, input, output, read: Vec::new() };
        if era == Era::Legacy {
            pipe.write(&format!("{}\n", exchange::initialize_text()))?;
            while pipe.lines(|_| Ok(()))? == 0 {}
            pipe.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        }
        Ok(pipe)
    }

    /// Calls per second with `window` calls in flight, and the server's processor time per call in microseconds. After
    /// each read, one write sends as many new calls as answers arrived.
    ///
    /// # Errors
    /// When an answer is wrong.
    pub(super) fn load(
        &mut self,
        message: &Message,
        window: u64,
        duration: Duration,
    ) -> Result<(f64, f64)> {
        let mut counted_from = Instant::now() + WARM_UP;
        let end = counted_from + duration;
        let (mut sent, mut answered, mut before) = (window, 0_u64, None);
        self.write(&lines(message, 0..window))?;
        loop {
            // Servers may answer in any order: each id must be that of a call in flight.
            let came =
                self.lines(|line| check(message, line, answered.saturating_sub(window)..sent))?;
            answered += came;
            let now = Instant::now();
            if before.is_none() && now >= counted_from {
                (before, counted_from) =
                    (Some((answered, load::cpu_micros(self.child.id())?)), now);
            }
            if let Some((before, cpu)) = before
                && now >= end
            {
                let count = usize::try_from(answered - before)?;
                let cpu = load::cpu_micros(self.child.id())? - cpu;
                let seconds = counted_from.elapsed().as_secs_f64();
                return Ok((count_of(count) / seconds, cpu / count_of(count)));
            }
            self.write(&lines(message, sent..sent + came))?;
            sent += came;
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        Ok(self.input.write_all(text.as_bytes())?)
    }

    /// Reads once, and passes each complete line to `each`. Returns the number of lines.
    fn lines(&mut self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut piece = [0; READ];
        let read = self.output.read(&mut piece)?;
        if read == 0 || self.read.len() > MAX_LINE {
            return Err("a server on pipes ended, or a line did not".into());
        }
        self.read.extend_from_slice(known_range::items(&piece, ..read));
        let Some(end) = memchr::memrchr(b'\n', &self.read) else {
            return Ok(0);
        };
        let mut count = 0;
        for line in known_range::items(&self.read, ..end).split(|byte| *byte == b'\n') {
            each(line)?;
            count += 1;
        }
        self.read.drain(..=end);
        Ok(count)
    }
}

fn lines(message: &Message, numbers: std::ops::Range<u64>) -> String {
    let mut text = String::new();
    for number in numbers {
        text += &message.text(number);
        text.push('\n');
    }
    text
}

/// Checks that the line is a successful answer to a call in flight.
fn check(message: &Message, line: &[u8], under_way: std::ops::Range<u64>) -> Result<()> {
    let number = Message::number(line).ok_or("an answer without the id of a call")?;
    if !under_way.contains(&number) {
        return Err(format!("an answer to call {number}, which is not under way").into());
    }
    message.check(line, number)
}
