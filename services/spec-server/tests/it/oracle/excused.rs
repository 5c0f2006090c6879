//! Items whose verdict may differ from the tool's, each with its reason. One that does not differ any more is a
//! failure.

/// An item, such as `spec/auth`, and why.
pub(crate) const EXCUSED: [(&str, &str); 5] = [
    (
        "change/odd-tasks-bom",
        "a byte order mark hides the group in the first line from the tool; we see the group, and the task that is not of it",
    ),
    (
        "change/odd-tasks-cr",
        "the tool reads task lists without CR line ends, though it reads specs with them; here a line is the same everywhere",
    ),
    ("change/odd-yaml", "the tool follows references in metadata; we do not, and say so"),
    (
        "spec/odd-bom",
        "a byte order mark before `## Requirements` hides it from one of the tool's readers and not from the other, so that it \
         calls each requirement misplaced",
    ),
    (
        "spec/odd-latin-1",
        "the tool puts marks in the place of bytes that are no UTF-8 and goes on; we say that the file is not UTF-8",
    ),
];

/// Archives that may end otherwise than the tool's: a part of what we say in refusing them, and why. One that is
/// refused for no change any more is a failure.
pub(crate) const ARCHIVES_EXCUSED: [(&str, &str); 3] = [
    (
        "/.openspec.yaml",
        "metadata that the tool's validation refuses does not keep it from archiving; it keeps us",
    ),
    (
        "changes no requirement",
        "a delta with a requirement that has no name: the tool archives it without a word, and nothing of it is in the specs",
    ),
    (
        "; modify it by its new name",
        "a rename written `Old → New`, as Spec Oxide has it: the tool passes over it, we read it",
    ),
];
