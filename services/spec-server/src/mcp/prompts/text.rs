//! The texts of the prompts.

use crate::model::{Artifact, Change, Task};
use crate::project::Project;

/// The most open tasks that a prompt repeats.
const MAX_TASKS: usize = 50;

/// The text for proposing a change.
pub(super) fn propose(project: &Project, idea: &str, id: Option<&str>) -> String {
    let changes = project.display_path(&project.layout().changes);
    let id = match id.map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) => format!("Its id is `{id}`."),
        None => "Choose an id in kebab-case that begins with a verb, such as `add-password-reset`."
            .to_owned(),
    };
    let schema = project.schema(&project.default_schema());
    let file = |one: &Artifact| format!("- {}: `{}`, {}\n", one.id, one.files, one.description);
    let files: String = schema.artifacts.iter().map(file).collect();
    format!(
        "Propose a change to the specifications of this repository:\n\n{idea}\n\n\
         1. Find what is specified already (search_specs, get_spec_requirements, get_scenario), and with list_changes \
         whether somebody is changing it. Ask me about whatever could be meant in more than one way.\n\
         2. {id} Make the folder `{changes}/ID/` with these files, in this order:\n{files}\
         Before each, call next_step with the id and the artifact: the answer has its template, how to write it, and \
         the rules of this repository.\n\
         3. Run validate_change with the id and `strict`, and fix what it names until it is valid.\n\
         4. Show me the proposal. Write no code before I agree."
    )
}

/// The text for implementing a change.
pub(super) fn implement(project: &Project, change: &Change, writes: bool) -> String {
    let id = &change.id;
    let tick = if writes {
        format!("call complete_task with change_id {id:?} and its number or text")
    } else {
        format!(
            "put an x into its box in `{}`",
            project.display_path(&project.layout().changes.join(id).join("tasks.md"))
        )
    };
    let tasks = open_tasks(change);
    let tasks = if tasks.is_empty() {
        "No task is open: check that the code does what the scenarios say.".to_owned()
    } else {
        format!("The open tasks:\n{tasks}")
    };
    format!(
        "Implement the change {id:?} ({}). Its files follow, and the specs that it touches as they are now.\n\n\
         1. Read the proposal, the design and the changed requirements. Their scenarios are what must hold when you are \
         done: each wants a test.\n\
         2. Work through the open tasks in their order, with no more than they ask for. When one is done and tested, \
         {tick}.\n\
         3. Where a requirement turns out to be wrong, change the proposal first and run validate_change.\n\
         4. Run the tests of the whole project, and tell me what is done and what is not. Leave the specs themselves as \
         they are: they change when the change is archived.\n\n{tasks}",
        change.title
    )
}

/// The text for archiving a change.
pub(super) fn archive(project: &Project, change: &Change, writes: bool) -> String {
    let id = &change.id;
    if let Some(day) = &change.archived_on {
        return format!(
            "The change {id:?} ({}) was archived on {day}. Its files follow: tell me whether the specs say today what \
             it wanted of them.",
            change.title
        );
    }
    let open = open_tasks(change);
    let tasks = if open.is_empty() {
        "All of its tasks are done.".to_owned()
    } else {
        format!("These tasks are still open; ask me about them before you continue:\n{open}\n")
    };
    let how = if writes {
        format!(
            "Call archive_change with change_id {id:?}. It changes the specs and moves the folder, or \
                         says what stands in the way and does nothing."
        )
    } else {
        let layout = project.layout();
        format!(
            "Change the specs below `{}` as the difference at the end shows, then move `{}` to `{}/YYYY-MM-DD-{id}` \
                 with the day of today.",
            project.display_path(&layout.specs),
            project.display_path(&layout.changes.join(id)),
            project.display_path(&layout.archive)
        )
    };
    format!(
        "Archive the change {id:?} ({}). Its files follow. {tasks}\n\n\
         1. Run validate_change with change_id {id:?} and `strict`, and fix what it names.\n\
         2. Look at preview_change: is that what the specs are to say?\n\
         3. {how}\n\
         4. Run validate_spec for all specs, and tell me what has changed.",
        change.title
    )
}

fn open_tasks(change: &Change) -> String {
    let open: Vec<_> = change.all_tasks().map(|(_, task)| task).filter(|task| !task.done).collect();
    let line = |task: &&Task| {
        let number = task.id.as_deref().unwrap_or("-");
        format!("- {number} (line {}) {}", task.line, task.text)
    };
    let mut lines: Vec<_> = open.iter().take(MAX_TASKS).map(line).collect();
    if open.len() > MAX_TASKS {
        lines.push(format!("- and {} more", open.len() - MAX_TASKS));
    }
    lines.join("\n")
}
