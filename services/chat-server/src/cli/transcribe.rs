//! `chat-server transcribe`

use std::process::ExitCode;

use service_host::{log_to_stderr, stop_signal};

use super::error::{Asked, CliError};
use super::output::Output;
use super::paths::{Paths, close};
use crate::chat_service::{Mode, Transcribed};
use crate::index::IndexError;

/// Transcribes as many recordings as the configuration says, and says how many are left.
pub(super) async fn run(paths: &Paths) -> Result<ExitCode, CliError> {
    log_to_stderr("error");
    let config = paths.config()?;
    if config.transcriber.is_none() {
        return Err("no program is configured for it: write [transcribe] with command = [\"PROGRAM\", \"{}\"] into \
                    the configuration, where {} is the file of a recording"
            .into());
    }
    let service = paths.open_with(&config, Mode::Reads).await?;
    let stop = stop_signal()?;
    let done = async {
        if !service.index().is_writer() {
            return Err(IndexError::ReadOnly { dir: service.index().dir().to_owned() }.into());
        }
        let done = stop.run_until_cancelled(service.transcribe()).await;
        let done = done.ok_or("stopped: what was transcribed is kept")?;
        Ok::<_, CliError>(done.map_err(Asked)?)
    };
    let done = done.await;
    close(&service).await;
    let Transcribed { done, failed, left, problem, .. } = done?;
    let mut output = Output::new();
    output.line(&format!("{done} transcribed, {failed} failed, {left} left"))?;
    output.finish()?;
    if let Some(problem) = problem {
        service_host::complain(&format!("the program for transcripts: {problem}"));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
