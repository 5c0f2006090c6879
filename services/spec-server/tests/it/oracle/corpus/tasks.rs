//! What can be wrong with the tasks of a change.

use super::change::Draft;
use super::page::{Mutation, Page};

/// What can be wrong with tasks.
pub(crate) const ALL: [Mutation<Draft>; 8] = [
    ("no-boxes", |draft, random| {
        let text = random.text(&[
            "# Tasks\n- do it\n",
            "1. do it\n",
            "10) do it\n",
            "1234567890. do it\n",
            "+ do it\n",
            "* * *\n",
            "---\n",
            "Words.\n",
            "",
            "- \n",
            "-no blank\n",
            "    - code\n",
            "   - list\n",
            "\t- code\n",
            "```\n- code\n```\n",
            "```\n- code\n",
            "````\n```\n- code\n````\n- real\n",
            "~~~ x\n- code\n~~~ y\n- code\n~~~\n",
            "---\ntags:\n- a\n---\n",
            "---\ntags:\n- a\n---\n- real\n",
            "---\n- real\n",
            "----\n- real\n----\n",
            "<!-- - no -->\n",
            "<!--\n- no\n-->\n- real\n",
            "- real <!-- x\n",
            "<!-->\n- hidden\n-->\n",
            "- [link](x)\n",
            "- [a][b]\n",
            "- [WIP] do it\n",
            "- [](x)\n",
            "    ```\n- real\n    ```\n",
        ]);
        draft.tasks = Page::new(text);
    }),
    ("boxes", |draft, random| {
        let text = random.text(&[
            "- [] do it\n",
            "- [~] do it\n",
            "- [ x ] do it\n",
            "+ [ ] do it\n",
            "1. [ ] do it\n",
            "-[ ]do it\n",
            "- [ ](x)\n",
            "- [x](x)\n- do\n",
            "```\n- [ ] in code\n```\n- do\n",
            "- [ ]\n",
            "- [\u{a0}] do\n",
            "- [✓] do\n",
            "- []] x\n",
            "> - [ ] x\n- y\n",
        ]);
        draft.tasks = Page::new(text);
    }),
    ("group-wrong", |draft, random| {
        let new = random.text(&[
            "- [ ] 3.1 ",
            "- [ ] 01.1 ",
            "- [ ] 1.1a ",
            "- [ ] 11.1 ",
            "- [ ] 1 ",
            "- [ ] 2.x ",
            "- [ ] 2.1: ",
            "- [ ] 2.1. ",
            "- [x] 2.9\u{a0}",
            "  * [ ] 2.7 ",
            "- [ ] 2.1-",
        ]);
        draft.tasks.replace("- [ ] 1.1 ", random, |text| format!("{new}{text}"));
    }),
    ("group-heading", |draft, random| {
        let new = random.text(&[
            "## 01. Gate",
            "##  1. Gate",
            "## 1.Gate",
            "## 1 Gate",
            "## 1.",
            "## Gate",
            "### 1. Gate",
            "# 1. Gate",
            "   ## 3. Gate",
            "    ## 3. Gate",
            "##\t3. Gate",
            "##",
            "## 3. ",
            "##3. Gate",
            "```\n## 3. Gate\n```",
        ]);
        draft.tasks.replace("## 1. Gate", random, |_| new.to_owned());
    }),
    ("number-twice", |draft, random| {
        let new = random.text(&[
            "- [ ] 2.1 Again",
            "- [ ] 2.1.1 Again",
            "- [ ] 02.1 Not again",
            "- [ ] 1.1 Again, elsewhere",
            "```\n- [ ] 2.1 Again\n```",
        ]);
        draft.tasks.append(new);
    }),
    ("ungrouped", |draft, random| {
        draft.tasks.insert_before("- [", random, "## Notes");
        draft.tasks.append("- [ ] 9.9 Somewhere");
    }),
    ("zero-group", |draft, _| {
        draft.tasks = Page::new("## 0. Start\n- [ ] 0.1 a\n- [ ] 00.2 b\n- [ ] 1.1 c\n- [ ] 0.1 d")
    }),
    ("section-ends-group", |draft, _| {
        draft.tasks = Page::new(
            "## 1. A\n- [ ] 1.1 a\n## Later\n- [ ] 7.7 b\n# 2. B\n- [ ] 7.7 c\n## 2. C\n- [ ] 7.7 d",
        )
    }),
];
