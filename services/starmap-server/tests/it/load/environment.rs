//! Where the map is if it is not named.

use std::path::{Path, PathBuf};

use starmap_server::load::{GraphEnvironment, graph_path};

/// What an environment says, and where the map then is.
fn path_in(graph: Option<&str>, data_home: Option<&str>, home: Option<&str>) -> PathBuf {
    let environment = GraphEnvironment {
        graph: graph.map(Into::into),
        data_home: data_home.map(Into::into),
        home: home.map(Into::into),
    };
    environment.graph_path(None)
}

#[test]
fn the_argument_goes_before_the_variable_and_that_before_the_data_of_the_user() {
    let environment = GraphEnvironment {
        graph: Some("own.json".into()),
        data_home: Some("/data".into()),
        home: Some("/h".into()),
    };
    let argument = Path::new("argument");
    assert_eq!(environment.graph_path(Some(argument)), argument);
    assert_eq!(graph_path(Some(argument)), argument);
    assert_eq!(environment.graph_path(None), Path::new("own.json"));
    let data = Path::new("/data/starmap-server/universe.graph");
    assert_eq!(path_in(None, Some("/data"), Some("/h")), data);
    let home = Path::new("/h/.local/share/starmap-server/universe.graph");
    assert_eq!(path_in(None, None, Some("/h")), home);
}

#[test]
fn what_is_empty_or_relative_says_nothing() {
    let home = Path::new("/h/.local/share/starmap-server/universe.graph");
    assert_eq!(path_in(Some(""), Some(""), Some("/h")), home);
    assert_eq!(path_in(None, Some("data"), Some("/h")), home);
    let here = Path::new("starmap-server/universe.graph");
    assert_eq!(path_in(None, None, None), here);
    assert_eq!(path_in(None, None, Some("")), here);
}
