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
const LEFT_OUT: [&str; 94] = [
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
    // These try many cases, or wait for a time limit.
    "a_program_that_starts_slowly_once_breaks_no_rule",
    "each_fault_breaks_one_rule",
    "reports_about_programs_are_confirmed",
    "each_server_that_is_broken_behind_a_socket_breaks_its_rule_and_no_other",
    "silence_is_not_a_wrong_answer",
    "a_call_ends_at_its_limit_and_a_persons_time_does_not_count",
    "a_client_that_does_not_read_holds_its_call_up_and_not_the_server",
    "the_compiler_says_what_a_handler_lacks",
    "operator::frames::",
    "an_empty_universe_a_crowd_and_a_deep_one_are_drawn_in_bounds",
    "a_dead_log_and_a_half_closed_socket_are_no_reason_to_fail",
    "retention::",
    "while_the_database_is_away_requests_are_refused_at_once",
    "a_full_disk_is_one_line_and_shows_in_readiness",
    "a_slow_reader_loses_nothing",
    "what_is_reported_of_a_store_that_fails_is_true",
    "more_universes_than_a_page_are_listed",
    "a_thousand_calls_with_the_same_id_get_a_thousand_answers",
    "room_is_given_back_with_and_without_a_server",
    "bodies_are_where_the_ephemeris_has_them_from_1950_to_2050",
    "mcp_takes_bodies_up_to_the_servers_limit",
    "sqlite_follows_the_model",
    "each_changed_value_is_found_never_served_wrongly_and_put_right",
    "what_is_acknowledged_is_there_for_whoever_looks_next",
    "a_log_begins_where_it_is_made_to_begin",
    "no_short_chat_is_silently_read_in_the_wrong_order",
    "live::export::",
    "import::hostile::",
    "a_large_account_in_a_zip",
    "copies_are_hidden_from_every_question",
    "the_index_answers_as_the_model",
    "a_thousand_messages_at_once_are_told_once_each_in_order",
    "what_is_far_back_is_found_too",
    "a_thousand_updates_arrive_once_over_breaking_connections_and_a_restart",
    "no_acknowledged_tick_is_lost",
    "parse::hostile::",
    "lists_without_end_and_numbers_that_are_none_are_refused",
    "the_games_rules_on_the_real_map_and_every_tool_as_a_command",
    "a_led_search_finds_the_same_as_one_that_looks_everywhere",
    "gzip_that_unpacks_to_very_much_is_refused",
    "tours_are_no_longer_than_nearest_neighbours",
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
