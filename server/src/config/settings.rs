//! The source of each option's value. A flag overrides the environment, which overrides the file, which overrides the
//! default. The command line defines all options; the file has the same names without the dashes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{
    Arg, ArgAction, ArgMatches, Command, CommandFactory as _, FromArgMatches as _, ValueHint,
};
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::store::masked;
use super::{Arguments, ConfigError};

/// The largest file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The option that names the file, and the options that a file may not have.
const FILE: &str = "config";
const NOT_IN_FILES: [&str; 3] = [FILE, "help", "version"];

/// The effective value of every option.
#[derive(Debug, Clone)]
pub struct Settings {
    options: Vec<Setting>,
    /// What is odd about the environment, in sentences.
    odd: Vec<String>,
}

/// An option.
#[derive(Debug, Clone, Serialize)]
struct Setting {
    option: String,
    values: Vec<String>,
    source: String,
}

/// The values of an option in the file, and its line.
#[derive(Debug)]
struct FileOption {
    line: usize,
    values: Vec<String>,
}

/// Reads the command line, the environment, and the file that one of them names.
///
/// # Errors
/// An invalid file. Invalid arguments, `--help` and `--version` end the program, as usual with clap.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<(Arguments, Settings), ConfigError> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let original = Arguments::command();
    let mut command = original.clone();
    let matches = command.clone().get_matches_from(&arguments);
    let file = matches.get_one::<PathBuf>(FILE).cloned();
    let mut given = BTreeMap::new();
    if let Some(file) = &file {
        given = read_file(file, &command)?;
        for (id, FileOption { values, .. }) in &given {
            let values = values.clone();
            command = command.mut_arg(id, |arg| arg.default_values(values));
        }
    }
    let matches = command.clone().get_matches_from(&arguments);
    let read = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let settings = options(&original).map(|arg| setting(arg, &matches, file.as_deref(), &given));
    Ok((read, Settings { options: settings.collect(), odd: unknown(&original) }))
}

/// Variables that look like options and are none. Programs that are started side by side may have others of this
/// prefix, so a warning names them and nothing is refused.
fn unknown(command: &Command) -> Vec<String> {
    let verbs = command.get_subcommands().flat_map(Command::get_arguments);
    let known = command.get_arguments().chain(verbs).filter_map(|arg| arg.get_env()?.to_str());
    let known: BTreeSet<_> = known.collect();
    let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let odd = given.filter(|it| it.starts_with("UNIVERSE_") && !known.contains(it.as_str()));
    odd.map(|name| {
        let hint = universe_core::nearest::hint(&name, known.iter().copied());
        format!("the environment has {name}, which is no option of this program{hint}")
    })
    .collect()
}

impl Settings {
    /// Warns of what is odd.
    pub(crate) fn warn(&self) {
        for odd in &self.odd {
            tracing::warn!("{odd}");
        }
    }

    /// Writes the options to stdout.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(crate) fn show(&self, json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if json {
            return writeln!(out, "{}", serde_json::to_string_pretty(&self.options)?);
        }
        let width = self.options.iter().map(|it| it.option.len()).max().unwrap_or(0);
        for Setting { option, values, source } in &self.options {
            let line = if values.is_empty() {
                format!("{option:width$}  -  # {source}")
            } else {
                format!("{option:width$}  {}  # {source}", values.join(", "))
            };
            writeln!(out, "{}", service_host::visible(&line))?;
        }
        Ok(())
    }
}

/// The options that a file may have.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let named = command.get_arguments().filter(|arg| arg.get_long().is_some());
    named.filter(|arg| !NOT_IN_FILES.contains(&arg.get_id().as_str()))
}

fn setting(
    arg: &Arg,
    matches: &ArgMatches,
    file: Option<&Path>,
    given: &BTreeMap<String, FileOption>,
) -> Setting {
    let id = arg.get_id().as_str();
    let raw = matches.get_raw(id).into_iter().flatten();
    // Only this value may be a URL with a password.
    let shown = |value: String| match id {
        "store" => masked(&value),
        _ => value,
    };
    let values = raw.map(|value| shown(value.to_string_lossy().into_owned()));
    let source = match (matches.value_source(id), given.get(id), file) {
        (Some(ValueSource::CommandLine), ..) => "flag".to_owned(),
        (Some(ValueSource::EnvVariable), ..) => {
            let name = arg.get_env().unwrap_or_default();
            format!("environment {}", name.to_string_lossy())
        }
        (_, Some(FileOption { line, .. }), Some(file)) => format!("{}:{line}", file.display()),
        _ => "default".to_owned(),
    };
    Setting {
        option: arg.get_long().unwrap_or_default().to_owned(),
        values: values.collect(),
        source,
    }
}

/// The options in a file by their ids. Relative paths in the file are resolved against its folder.
fn read_file(file: &Path, command: &Command) -> Result<BTreeMap<String, FileOption>, ConfigError> {
    let wrong = |line: Option<usize>, problem: String| ConfigError::File {
        place: match line {
            Some(line) => format!("{}:{line}", file.display()),
            None => file.display().to_string(),
        },
        problem,
    };
    let mut text = String::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| wrong(None, error.to_string()))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(wrong(None, format!("it has more than {MAX_BYTES} bytes")));
    }
    let line = |at: usize| {
        let before = text.get(..at).unwrap_or(&text);
        before.matches('\n').count() + 1
    };
    let table = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map(|span| line(span.start));
        wrong(at, error.message().to_owned())
    })?;
    let mut given = BTreeMap::new();
    for (key, value) in table.into_inner() {
        let (line, name) = (line(key.span().start), key.into_inner());
        let known = |arg: &&Arg| arg.get_long() == Some(name.as_ref());
        let Some(arg) = options(command).find(known) else {
            let names = options(command).filter_map(Arg::get_long);
            let hint = universe_core::nearest::hint(&name, names);
            let problem = format!("unknown option {name:?}{hint}");
            return Err(wrong(Some(line), problem));
        };
        let values = values(arg, &value)
            .map_err(|problem| wrong(Some(line), format!("{name}: {problem}")))?;
        let values = match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::DirPath | ValueHint::FilePath => {
                let folder = file.parent().unwrap_or(Path::new(""));
                let at = |value: &String| folder.join(value).to_string_lossy().into_owned();
                let is_url = |value: &String| value.contains("://");
                let placed = values
                    .iter()
                    .map(|value| if is_url(value) { value.clone() } else { at(value) });
                placed.collect()
            }
            _ => values,
        };
        judge(arg, &values).map_err(|problem| wrong(Some(line), problem))?;
        given.insert(arg.get_id().to_string(), FileOption { line, values });
    }
    Ok(given)
}

/// A value of the file in the form that the command line would have.
fn values(arg: &Arg, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, String> {
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        _ => None,
    };
    match value.get_ref() {
        DeValue::Array(list) if matches!(arg.get_action(), ArgAction::Append) => {
            let list = list.iter().map(|value| text(value.get_ref()));
            let list: Option<Vec<_>> = list.collect();
            list.ok_or_else(|| "a list of texts was expected".to_owned())
        }
        value => match text(value) {
            Some(text) => Ok(vec![text]),
            None if matches!(arg.get_action(), ArgAction::Append) => {
                Err("a text or a list of texts was expected".to_owned())
            }
            None => Err("a text, a whole number, true or false was expected".to_owned()),
        },
    }
}

/// Refuses a value that the option would refuse on the command line, with the same message.
fn judge(arg: &Arg, values: &[String]) -> Result<(), String> {
    let long = arg.get_long().unwrap_or_default();
    let judging = Command::new("file").no_binary_name(true).arg(arg.clone().global(false));
    let given = values.iter().map(|value| format!("--{long}={value}"));
    match judging.try_get_matches_from(given) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = error.to_string();
            let first = message.split("\n\n").next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            let words: Vec<_> = first.split_whitespace().collect();
            Err(words.join(" ").replace("'--", "'"))
        }
    }
}
