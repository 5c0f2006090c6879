//! The default path of the map.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that names the map.
const VARIABLE: &str = "ARIA_UNIVERSE_GRAPH";

/// The environment variables that set the path of the map. An empty variable is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphEnvironment {
    /// `ARIA_UNIVERSE_GRAPH`: the map itself.
    pub graph: Option<OsString>,
    /// `XDG_DATA_HOME`: the folder of the user's data. One that is not absolute is ignored, as the XDG Base Directory
    /// Specification requires.
    pub data_home: Option<OsString>,
    /// The user's own folder.
    pub home: Option<PathBuf>,
}

/// The path of the map: the argument, else `ARIA_UNIVERSE_GRAPH`, else `starmap-server/universe.graph` in the folder of
/// the user's data (`$XDG_DATA_HOME`, else `~/.local/share`). The disk is not accessed.
pub fn graph_path(argument: Option<&Path>) -> PathBuf {
    GraphEnvironment::of_process().graph_path(argument)
}

impl GraphEnvironment {
    /// The values in the environment of this process.
    pub fn of_process() -> Self {
        Self {
            graph: std::env::var_os(VARIABLE),
            data_home: std::env::var_os("XDG_DATA_HOME"),
            home: std::env::home_dir(),
        }
    }

    /// [`graph_path()`] in this environment.
    pub fn graph_path(&self, argument: Option<&Path>) -> PathBuf {
        if let Some(path) = argument {
            return path.to_owned();
        }
        if let Some(path) = self.graph.as_ref().filter(|path| !path.is_empty()) {
            return path.into();
        }
        let data_home = self.data_home.as_ref().map(PathBuf::from);
        let data = data_home.filter(|path| path.is_absolute());
        // For a user without a home folder, the map is in the working directory.
        let data = data.unwrap_or_else(|| {
            let home = self.home.clone().filter(|home| !home.as_os_str().is_empty());
            home.map_or_else(PathBuf::new, |home| home.join(".local/share"))
        });
        data.join("starmap-server").join("universe.graph")
    }
}
