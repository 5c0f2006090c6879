//! The command line: what it prints for programs and for people, and its exit codes.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use clap::Parser as _;
use serde_json::{Value, json};
use spec_server::cli::{self, CliError, SpecServerArgs, Style};

use crate::assert_has;
use crate::mcp::{Copy, HANG, binary};

/// Runs the binary in a folder.
async fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = binary().args(arguments).current_dir(folder).output();
    tokio::time::timeout(HANG, output).await.expect("it hangs").unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a command prints that must be fine.
async fn fine(folder: &Path, command: &str) -> String {
    let arguments: Vec<&str> = command.split(' ').collect();
    let output = run(folder, &arguments).await;
    let ended = (output.status.code(), stderr(&output));
    assert_eq!(ended, (Some(0), String::new()), "{command}");
    stdout(&output)
}

/// What a command says on stderr that must fail.
async fn failed(folder: &Path, command: &str) -> String {
    let arguments: Vec<&str> = command.split(' ').collect();
    let output = run(folder, &arguments).await;
    assert_eq!(output.status.code(), Some(1), "{command}");
    stderr(&output)
}

async fn json_of(folder: &Path, command: &str) -> Value {
    serde_json::from_str(&fine(folder, command).await).unwrap()
}

// Fission-AI/OpenSpec#1892
#[tokio::test]
async fn a_configuration_that_is_not_used_is_one_line_of_lists_and_verdicts() {
    let project = Copy::of("counter");
    project.write("openspec/config.yaml", "rules:\n  tasks: [\n");
    for command in ["list", "validate", "validate extend-hours", "next extend-hours"] {
        let told = fine(project.root(), command).await;
        let lines = told.lines().filter(|line| line.contains("openspec/config.yaml:"));
        assert_eq!(lines.count(), 1, "{command}: {told}");
    }
}

#[tokio::test]
async fn list_is_plain_text_for_agents() {
    let project = Copy::of("library");
    let listed = fine(project.root(), "list").await;
    let expected = "Specs:\n- lending  3 requirements\n- members  2 requirements\n- notices  2 requirements\n\n\
                    Changes:\n- add-reservations  2/4 tasks\n- shorten-notice    0/1 tasks\n";
    assert_eq!(listed, expected);
    assert!(!fine(project.root(), "list --specs").await.contains("Changes"));
    assert!(!fine(project.root(), "list --changes").await.contains("Specs"));
    let listed = json_of(project.root(), "list --json").await;
    assert_eq!(listed["specs"][0]["requirements"], 3);
    assert_eq!(listed["changes"][0]["task_progress"], json!({"completed": 2, "total": 4}));

    let empty = Copy::of("empty");
    let listed = fine(empty.root(), "list").await;
    assert_eq!(listed, "No specs found.\n\nNo active changes.\n");

    let openspec = Copy::of("counter");
    let listed = fine(openspec.root(), "list --archived").await;
    assert_eq!(listed, "Changes:\n- 2026-01-12-open-on-sundays  1/1 tasks\n");
}

#[tokio::test]
async fn the_project_is_found_upwards_or_named() {
    let project = Copy::of("library");
    let below = project.path("specs/lending");
    let here = fine(project.root(), "list").await;
    assert_eq!(fine(&below, "list").await, here);
    let elsewhere = Copy::empty();
    let root = project.root().to_str().unwrap();
    assert_eq!(fine(elsewhere.root(), &format!("list --root {root}")).await, here);
    assert_eq!(fine(elsewhere.root(), &format!("--root {root} list")).await, here);

    for arguments in [&["list"][..], &["show", "x"], &["validate"], &["search", "x"], &["index"]] {
        let lost = run(elsewhere.root(), arguments).await;
        assert_eq!(lost.status.code(), Some(1), "{arguments:?}");
        assert_eq!(stdout(&lost), "");
        let said = stderr(&lost);
        assert!(said.starts_with("spec-server: ") && said.lines().count() == 1, "{said}");
        assert_has(&said, &["--root", ".spox/config.toml"]);
    }
}

#[tokio::test]
async fn show_prints_what_is_in_the_files() {
    let project = Copy::of("library");
    let spec = fine(project.root(), "show lending").await;
    assert_eq!(spec, project.read("specs/lending/spec.md"));
    let change = fine(project.root(), "show add-reservations").await;
    assert!(
        change.starts_with("Reservations at the counter (add-reservations)\n2/4 tasks\n"),
        "{change}"
    );
    assert!(change.contains("--- specs/_changes/add-reservations/specs/reservations/spec.md ---"));
    assert!(change.contains("- [ ] 1.3 Forget a reservation"));
    let json = json_of(project.root(), "show add-reservations --json").await;
    assert_eq!(json["deltas"]["lending"]["items"][0]["name"], "Renewal");
    let json = json_of(project.root(), "show lending --json").await;
    assert_eq!(json["requirements"][0]["scenario_count"], 2);

    assert_has(&failed(project.root(), "show lendin").await, &["did you mean lending"]);
    // What can be the id of a spec alone is missing all the same.
    let counter = Copy::of("counter");
    assert_has(&failed(counter.root(), "show desk/return").await, &["did you mean desk/returns"]);
    for hostile in ["../../etc", "/etc/passwd", "a\\b", "--", ""] {
        let refused = run(project.root(), &["show", "--", hostile]).await;
        assert_eq!(refused.status.code(), Some(1), "{hostile}");
    }
    // A spec goes before a change of the same id.
    project.write("specs/_changes/lending/proposal.md", "# Change: Lending\n");
    assert!(fine(project.root(), "show lending").await.starts_with("# Lending\n"));
    assert!(fine(project.root(), "show lending --change").await.starts_with("Lending (lending)"));
}

#[tokio::test]
async fn validate_tells_where_and_what_by_exit_code_too() {
    let project = Copy::of("library");
    let said = fine(project.root(), "validate").await;
    assert!(said.contains("2 changes and 3 specs are valid"), "{said}");
    fine(project.root(), "validate --strict").await;
    fine(project.root(), "validate lending shorten-notice").await;

    let broken = Copy::of("broken");
    let output = run(broken.root(), &["validate"]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = stdout(&output);
    assert!(said.contains("specs/vague/spec.md:13: error: "), "{said}");
    assert!(said.contains("specs/_changes/half-done/"), "{said}");
    fine(broken.root(), "validate sound").await;
    let output = run(broken.root(), &["validate", "--json", "vague"]).await;
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["valid"], false);
    assert_eq!(report["items"][0]["id"], "vague");
    let levels = report["items"][0]["issues"].as_array().unwrap();
    assert!(
        levels.iter().any(|issue| issue["level"] == "error" && issue["line"] == 13),
        "{report}"
    );
    assert!(levels.iter().any(|issue| issue["level"] == "warning"), "{report}");

    assert_has(&failed(broken.root(), "validate vage").await, &["did you mean vague"]);
}

#[tokio::test]
async fn search_and_its_index() {
    let project = Copy::of("library");
    let found = fine(project.root(), "search forget a member").await;
    assert!(found.contains("members › Deletion"), "{found}");
    let nothing = fine(project.root(), "search quaternion").await;
    assert!(nothing.starts_with("Nothing found.\nno word of the query occurs"), "{nothing}");
    let json = json_of(project.root(), "search --json -n 1 loan").await;
    assert_eq!(json["results"].as_array().unwrap().len(), 1);
    assert_eq!(json["ranker"], "bm25");

    let explicit = "search --index explicit loan";
    assert_has(&failed(project.root(), explicit).await, &["spec-server index"]);
    assert!(
        fine(project.root(), "index")
            .await
            .starts_with("searches are allowed from now on; marked by ")
    );
    assert!(fine(project.root(), explicit).await.contains("lending › "));
    project.write("specs/late/spec.md", "# Late loan\n\n## Purpose\n\nA loan.\n");
    let found = fine(project.root(), explicit).await;
    assert!(found.contains("late"), "{found}");

    let strict = "search --threshold 0.99 loan and something else";
    let nothing = fine(project.root(), strict).await;
    assert!(nothing.starts_with("Nothing found.\n"), "{nothing}");
}

#[tokio::test]
async fn wrong_usage_is_two() {
    let project = Copy::of("library");
    for arguments in [
        &[][..],
        &["lists"],
        &["list", "--colour"],
        &["list", "--specs", "--changes"],
        &["show"],
        &["search"],
        &["search", "-n", "0", "x"],
        &["search", "-n", "101", "x"],
        &["search", "--threshold", "2", "x"],
        &["search", "--threshold", "NaN", "x"],
        &["search", "--index", "never", "x"],
        &["mcp", "--max-output", "10"],
        &["mcp", "--listen", "nowhere"],
    ] {
        let refused = run(project.root(), arguments).await;
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&refused), "", "{arguments:?}");
    }
    let help = fine(project.root(), "--help").await;
    assert!(help.contains("Exit code"), "{help}");
}

#[tokio::test]
async fn files_that_cannot_be_read_are_told() {
    let project = Copy::of("library");
    project.write("specs/binary/spec.md", b"\xff\xfe\x00");
    let listed = fine(project.root(), "list").await;
    assert_has(&listed, &["! ", "specs/binary/spec.md"]);
    let shown = run(project.root(), &["show", "binary"]).await;
    assert_eq!(shown.status.code(), Some(1));
    project.write("specs/_archive/2026-01-01-old/tasks.md", b"\xff");
    assert_has(&failed(project.root(), "show 2026-01-01-old").await, &["2026-01-01-old/tasks.md"]);
    let validated = run(project.root(), &["validate"]).await;
    assert_eq!(validated.status.code(), Some(1));
    assert_has(&stdout(&validated), &["specs/binary/spec.md: error: "]);
}

#[tokio::test]
async fn a_reader_that_has_had_enough_is_no_error() {
    let project = Copy::of("empty");
    // More than any pipe holds.
    project.write("specs/long/spec.md", format!("# Long\n{}", "word ".repeat(400_000)));
    let mut child = binary()
        .args(["show", "long"])
        .current_dir(project.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = tokio::time::timeout(HANG, child.wait_with_output()).await;
    let output = output.expect("it hangs").unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

/// What a command writes for somebody at a terminal.
fn written(root: &Path, arguments: &[&str], style: Style) -> String {
    let root = root.to_str().unwrap();
    let given = ["spec-server", "--root", root].into_iter().chain(arguments.iter().copied());
    let mut written = Vec::new();
    cli::run(&SpecServerArgs::parse_from(given), cli::Output::new(&mut written, style)).unwrap();
    String::from_utf8(written).unwrap()
}

#[test]
fn people_get_colour_and_no_control_characters_from_files() {
    let project = Copy::of("library");
    let colour = written(project.root(), &["list"], Style::Terminal);
    assert_has(&colour, &["\u{1b}[36madd-reservations\u{1b}[0m"]);
    let without = written(project.root(), &["list"], Style::Colourless);
    assert_has(&without, &["- add-reservations  2/4 tasks"]);
    assert!(!without.contains('\u{1b}'));

    let evil = "# Evil\u{1b}[2J\n\nplain \u{1b}]0;title\u{7} text\u{9b}31m\n";
    project.write("specs/evil/spec.md", evil);
    for style in [Style::Terminal, Style::Colourless] {
        let shown = written(project.root(), &["show", "evil"], style);
        let own = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert!(!own.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
    assert_eq!(written(project.root(), &["show", "evil"], Style::Plain), evil);
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let project = Copy::of("library");
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["show", "lending"],
        &["validate"],
        &["search", "loan"],
    ] {
        let root = project.root().to_str().unwrap();
        let given = ["spec-server", "--root", root].into_iter().chain(arguments.iter().copied());
        let ran =
            cli::run(&SpecServerArgs::parse_from(given), cli::Output::new(Full, Style::Plain));
        assert!(matches!(ran, Err(CliError::Write(_))), "{arguments:?}: {ran:?}");
    }
    fs::remove_dir_all(project.root()).unwrap();
}

#[tokio::test]
async fn what_is_written_over_mcp_is_written_here_too() {
    let project = Copy::of("library");
    let preview = fine(project.root(), "preview Add-Reservations").await;
    assert_has(&preview, &["+### Requirement: Hold", "use force"]);
    assert_has(
        &failed(project.root(), "archive add-reservations").await,
        &["2 of 4 tasks are open"],
    );

    let ticked = fine(project.root(), "task add-reservations 1.3").await;
    assert!(ticked.starts_with("[x] Forget") && ticked.ends_with("3/4 tasks\n"), "{ticked}");
    let ticked = json_of(project.root(), "task add-reservations 1.3 --undo --json").await;
    assert_eq!(ticked["completed"], 2);

    let archived = json_of(project.root(), "archive add-reservations --force --json").await;
    assert!(!project.path("specs/_changes/add-reservations").exists());
    assert!(project.path(archived["folder"].as_str().unwrap()).exists());
    // It answers to its bare name from now on.
    let shown = fine(project.root(), "show add-reservations").await;
    assert!(shown.contains("_archive"), "{shown}");
}

#[tokio::test]
async fn a_spec_is_shown_in_as_much_detail_as_is_asked_for() {
    let project = Copy::of("library");
    let shown = json_of(project.root(), "show LENDING --json --detail whole").await;
    assert_eq!(shown["text"], json!(project.read("specs/lending/spec.md")));
    let shown =
        json_of(project.root(), "show lending --json --detail scenarios --requirement Loan").await;
    assert_eq!(shown["requirements"].as_array().unwrap().len(), 1);
    let project_words = fine(project.root(), "project").await;
    assert!(project_words.starts_with("kind: spec-oxide\nspecs: specs\n"), "{project_words}");
    let found = fine(project.root(), "search --in changes reservation").await;
    assert!(found.contains("add-reservations/"), "{found}");
}
