//! Support of tasks as 2025-11-25 writes it: `"execution": {"taskSupport": "optional"}` (schema: `ToolExecution`).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::task::TaskSupport;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolExecution {
    #[serde(default)]
    task_support: TaskSupport,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(super) fn serialize<S: Serializer>(
    support: &TaskSupport,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let task_support = *support;
    ToolExecution { task_support }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<TaskSupport, D::Error> {
    ToolExecution::deserialize(deserializer).map(|execution| execution.task_support)
}
