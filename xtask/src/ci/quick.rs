//! The quick tier: tests of what a change most often breaks, in less than three minutes.

use xtask::Result;
use xtask::programs::workspaces;

use super::{SAME_CASES, formatted, linted, step};

/// Runs formatting, lints, and the tests that the whole test also compiles, except slow ones.
pub(super) fn run() -> Result<bool> {
    if !(formatted()? && linted()?) {
        return Ok(false);
    }
    let skipped: String = LEFT_OUT.iter().flat_map(|name| [" --skip ", name]).collect();
    for (name, manifest) in workspaces().filter(|(name, _)| ["root", "services"].contains(name)) {
        let line = format!(
            "cargo test --locked --manifest-path {manifest} --workspace --lib --bins --test it --{skipped}"
        );
        if !step(&format!("quick tests: {name}"), &line, &ENVIRONMENT)? {
            return Ok(false);
        }
    }
    Ok(true)
}

const ENVIRONMENT: [[&str; 2]; 3] = [
    SAME_CASES,
    ["PROPTEST_CASES", "16"],
    // Many tests wait for programs, the disk or timers.
    ["RUST_TEST_THREADS", "6"],
];

/// Names of tests and of test modules that are skipped. Each test takes seconds to minutes.
const LEFT_OUT: [&str; 53] = [
    // These test a whole table of rules, transcripts, entries or bytes.
    "each_broken_server_breaks_its_rule",
    "each_broken_server_on_pipes_breaks_its_rule",
    "each_oracle_finds_a_server_that_breaks_it",
    "each_rule_is_broken_by_a_client_that_it_finds",
    "servers_that_keep_the_rules_are_clean",
    "one_changed_byte",
    "no_single_answer_of_any_transcript_may_fail",
    "no_transcript_passes_on_a_broken_server",
    "all_requirements_hold_for_the_binary",
    "exports_that_break_off_anywhere",
    "words_of_any_script_are_found_far_back",
    "a_folder_of_more_entries_than_are_looked_at_is_told",
    "a_dump_that_was_cut_is_refused_and_a_changed_byte_costs_one_part_at_most",
    "any_map_is_drawn_in_bounds",
    "round_trips_on_the_real_map_come_near_the_target",
    "every_changed_byte_and_every_length_is_refused_or_changes_nothing",
    "the_corpus_is_large_and_breaks_every_rule",
    "names_without_end_are_cut_everywhere",
    "any_text_is_answered",
    "route::full::",
    "mcp::once::",
    // These have large universes, or documents that unpack to very much.
    "mcp::outline::",
    "rest::uploads::",
    "a_page_of_large_universes_ends_early_and_leads_on",
    "an_answer_that_is_too_long_for_stdio_says_how_to_ask_for_less",
    "every_way_reads_a_large_universe_as_it_is_after_each_change",
    "parts_are_shared_and_those_with_a_change_written_again",
    "deep::",
    "zips_that_are_bombs",
    "a_document_that_unpacks_to_very_much_is_refused",
    // These fill tables up to their limits.
    "sessions_that_are_never_ended_are_bounded",
    "sessions_without_delete_are_bounded",
    "a_thousand_calls_that_ask_at_once_get_their_own_answers",
    "ten_thousand_tasks_are_the_most_and_their_places_come_back",
    "the_count_is_near_what_the_process_takes",
    "items_that_must_differ_are_compared_in_bounded_work",
    "a_large_event_is_in_memory_once_however_many_do_not_read_it",
    "a_log_that_never_rests_does_not_grow",
    "what_is_too_large_is_refused_and_what_just_fits_is_kept",
    "readers_see_every_entry_once_while_it_is_written",
    // These kill programs, or wait for one that hangs.
    "a_server_that_is_killed_keeps_what_it_acknowledged",
    "a_server_that_is_killed_while_it_trims_and_compacts_loses_nothing",
    "an_import_that_is_killed_keeps_what_it_acknowledged",
    "what_was_acknowledged_survives_kill_9",
    "what_clients_see_of_servers_that_fail_is_linearizable",
    "a_holder_that_hangs_is_reported_and_sigterm_ends_the_wait",
    "a_backup_taken_under_load_is_the_same_elsewhere",
    "a_reader_in_the_middle_of_what_had_to_go",
    // These start an engine that few machines have.
    "nodes::",
    "outages::",
    "two_nodes_on_postgres_follow_the_model",
    "a_store_that_was_away_is_read_again",
    "a_store_that_is_away_is_said_to_be_and_sessions_outlive_that",
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use xtask::root;

    #[test]
    fn what_is_left_out_is_there_to_be_left_out() {
        let mut source = String::new();
        let members = [
            "conformance",
            "mcp-client",
            "mcp-proto",
            "server",
            "services",
            "universe-core",
            "universe-store",
        ];
        for member in members {
            gather(&root().join(member), &mut source);
        }
        for name in LEFT_OUT {
            let wanted = match name.strip_suffix("::") {
                Some(path) => format!("mod {};", path.rsplit("::").next().unwrap_or(path)),
                None => format!("fn {name}"),
            };
            assert!(source.contains(&wanted), "{name}");
        }
    }

    /// The text of all tests in this folder and below.
    fn gather(folder: &Path, source: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                gather(&path, source);
            } else if path.extension().is_some_and(|it| it == "rs") {
                *source += &fs::read_to_string(&path).expect("a file of tests");
            }
        }
    }
}
