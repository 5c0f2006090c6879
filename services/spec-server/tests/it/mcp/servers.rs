//! Several servers on one repository, as each session of an agent starts its own.

use mcp_proto::Era;
use serde_json::json;

use super::harness::{Copy, call};
use super::workflow::writing;

/// How many tasks each of two servers ticks.
const TICKS: usize = 1_000;

/// The task list is short, so that many ticks take little time: each is ticked and unticked again and again.
const TASKS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_tick_is_lost() {
    let project = Copy::empty();
    let tasks: String = (0..2 * TASKS).map(|number| format!("- [ ] 1.{number} task\n")).collect();
    project.write("openspec/changes/c/tasks.md", tasks);
    let mut servers = Vec::new();
    for number in 0..2 {
        // Servers that share nothing but the disk.
        let client = writing(&project, Era::Modern).await;
        servers.push(tokio::spawn(async move {
            let mut done = [false; TASKS];
            for tick in 0..TICKS {
                let task = tick % TASKS;
                let wanted = !done[task];
                let name = format!("1.{}", number * TASKS + task);
                let arguments = json!({"change_id": "c", "task": name, "done": wanted});
                let answer = call(&client, "complete_task", arguments).await;
                assert_ne!(answer["isError"], true, "{answer}");
                done[task] = wanted;
            }
            done
        }));
    }
    let mut expected = Vec::new();
    for server in servers {
        expected.extend(server.await.unwrap());
    }
    let text = project.read("openspec/changes/c/tasks.md");
    let ticked: Vec<bool> = text.lines().map(|line| line.starts_with("- [x]")).collect();
    assert_eq!(ticked, expected);
}
