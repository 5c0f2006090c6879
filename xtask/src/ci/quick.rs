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
const LEFT_OUT: [&str; 71] = [
    // These test a whole table of rules, transcripts, entries or bytes.
    "each_broken_server_breaks_its_rule",
    "each_broken_server_on_pipes_breaks_its_rule",
    "each_oracle_finds_a_server_that_breaks_it",
    "each_rule_is_broken_by_a_client_that_it_finds",
    "servers_that_keep_the_rules_are_clean",
    "one_changed_byte",
    "universe::",
    "index::text::",
    "a_folder_of_more_entries_than_are_looked_at_is_told",
    "a_dump_that_was_cut_is_refused_and_a_changed_byte_costs_one_part_at_most",
    "any_map_is_drawn_in_bounds",
    "every_changed_byte_and_every_length_is_refused_or_changes_nothing",
    "the_corpus_is_large_and_breaks_every_rule",
    "names_without_end_are_cut_everywhere",
    "route::full::",
    "mcp::once::",
    // These try many cases, or wait for a time limit.
    "check::small::",
    "reports_about_programs_are_confirmed",
    "each_server_that_is_broken_behind_a_socket_breaks_its_rule_and_no_other",
    "a_call_ends_at_its_limit_and_a_persons_time_does_not_count",
    "a_client_that_does_not_read_holds_its_call_up_and_not_the_server",
    "the_compiler_says_what_a_handler_lacks",
    "operator::",
    "an_empty_universe_a_crowd_and_a_deep_one_are_drawn_in_bounds",
    "a_dead_log_and_a_half_closed_socket_are_no_reason_to_fail",
    "retention::",
    "a_slow_reader_loses_nothing",
    "what_is_reported_of_a_store_that_fails_is_true",
    "more_universes_than_a_page_are_listed",
    "a_thousand_calls_with_the_same_id_get_a_thousand_answers",
    "care::",
    "bodies_are_where_the_ephemeris_has_them_from_1950_to_2050",
    "mcp_takes_bodies_up_to_the_servers_limit",
    "follows::",
    "each_changed_value_is_found_never_served_wrongly_and_put_right",
    "rules::",
    "a_log_begins_where_it_is_made_to_begin",
    "no_short_chat_is_silently_read_in_the_wrong_order",
    "live::export::",
    "hostile::",
    "a_large_account_in_a_zip",
    "copies_are_hidden_from_every_question",
    "the_index_answers_as_the_model",
    "a_thousand_messages_at_once_are_told_once_each_in_order",
    "a_thousand_updates_arrive_once_over_breaking_connections_and_a_restart",
    "no_acknowledged_tick_is_lost",
    "the_games_rules_on_the_real_map_and_every_tool_as_a_command",
    "a_led_search_finds_the_same_as_one_that_looks_everywhere",
    "gzip_that_unpacks_to_very_much_is_refused",
    "tour::",
    // These have large universes, or documents that unpack to very much.
    "mcp::outline::",
    "rest::uploads::",
    "a_page_of_large_universes_ends_early_and_leads_on",
    "mcp::large::",
    "parts_are_shared_and_those_with_a_change_written_again",
    "deep::",
    "a_document_that_unpacks_to_very_much_is_refused",
    // These fill tables up to their limits.
    "sessions_that_are_never_ended_are_bounded",
    "sessions_without_delete_are_bounded",
    "a_thousand_calls_that_ask_at_once_get_their_own_answers",
    "ten_thousand_tasks_are_the_most_and_their_places_come_back",
    "the_count_is_near_what_the_process_takes",
    "items_that_must_differ_are_compared_in_bounded_work",
    "feed::frozen::",
    // These kill programs, or wait for one that hangs.
    "crash::",
    "what_clients_see_of_servers_that_fail_is_linearizable",
    "a_holder_that_hangs_is_reported_and_sigterm_ends_the_wait",
    // These start an engine that few machines have.
    "nodes::",
    "outages::",
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
