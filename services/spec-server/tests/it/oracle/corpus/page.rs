//! A Markdown file under construction, and what can be done to any.

use super::random::Random;

/// Lines, and how they are written.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) lines: Vec<String>,
    bom: bool,
    end: &'static str,
    last_end: bool,
}

/// One thing that can be done to a `T`, and its name.
pub(crate) type Mutation<T> = (&'static str, fn(&mut T, &mut Random));

impl Page {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            bom: false,
            end: "\n",
            last_end: true,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        if self.bom {
            text.push('\u{feff}');
        }
        text.push_str(&self.lines.join(self.end));
        if self.last_end {
            text.push_str(self.end);
        }
        text.into_bytes()
    }

    /// The indices of the lines that begin like this.
    pub(crate) fn all(&self, start: &str) -> Vec<usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, line)| line.starts_with(start)).map(|(index, _)| index).collect()
    }

    /// The index of one of the lines that begin like this.
    pub(crate) fn any(&self, start: &str, random: &mut Random) -> Option<usize> {
        let all = self.all(start);
        (!all.is_empty()).then(|| *random.pick(&all))
    }

    /// Puts something in the place of one of the lines that begin like this.
    pub(crate) fn replace(
        &mut self,
        start: &str,
        random: &mut Random,
        new: impl FnOnce(&str) -> String,
    ) {
        if let Some(index) = self.any(start, random) {
            let new = new(self.lines[index].strip_prefix(start).expect("it begins so"));
            self.lines.splice(index..=index, new.split('\n').map(str::to_owned));
        }
    }

    /// Puts lines before one that begins like this, or at the end.
    pub(crate) fn insert_before(&mut self, start: &str, random: &mut Random, new: &str) {
        let index = self.any(start, random).unwrap_or(self.lines.len());
        self.lines.splice(index..index, new.split('\n').map(str::to_owned));
    }

    pub(crate) fn append(&mut self, new: &str) {
        self.lines.extend(new.split('\n').map(str::to_owned));
    }

    /// The lines below one, up to the next that begins with one of these.
    pub(crate) fn below(&self, index: usize, ends: &[&str]) -> std::ops::Range<usize> {
        let rest = self.lines.iter().skip(index + 1);
        let length = rest.take_while(|line| !ends.iter().any(|end| line.starts_with(end))).count();
        index + 1..index + 1 + length
    }

    /// Removes a heading that begins like this with what is below it.
    pub(crate) fn remove(&mut self, start: &str, ends: &[&str], random: &mut Random) {
        if let Some(index) = self.any(start, random) {
            let end = self.below(index, ends).end;
            self.lines.drain(index..end);
        }
    }

    /// Puts lines in the place of all below a line that begins like this.
    pub(crate) fn fill(&mut self, start: &str, ends: &[&str], random: &mut Random, new: &str) {
        if let Some(index) = self.any(start, random) {
            let below = self.below(index, ends);
            self.lines.splice(below, new.split('\n').map(str::to_owned));
        }
    }
}

/// What does no harm to a file, or hides a part of it in code.
pub(crate) const ANY: [Mutation<Page>; 14] = [
    ("crlf", |page, _| page.end = "\r\n"),
    ("cr", |page, _| page.end = "\r"),
    ("bom", |page, _| page.bom = true),
    ("no-last-end", |page, _| page.last_end = false),
    ("blank-lines", |page, random| {
        for _ in 0..4 {
            let at = random.below(page.lines.len());
            page.lines.insert(at, random.text(&["", "   ", "\t", "\u{a0}"]).to_owned());
        }
    }),
    ("blank-ends", |page, random| {
        for line in &mut page.lines {
            line.push_str(random.text(&["", "  ", "\t", "\u{a0}", "\u{3000}"]));
        }
    }),
    ("fenced-example", |page, random| {
        let mark = random.text(&["```", "~~~", "````", "  ```", "```md"]);
        let close = mark.trim_end_matches("md");
        let inside = "## Requirements\n### Requirement: In code\n#### Scenario: In code\n## ADDED Requirements";
        let at = random.below(page.lines.len());
        let block = format!("{mark}\n{inside}\n{close}");
        page.lines.splice(at..at, block.split('\n').map(str::to_owned));
    }),
    ("open-fence", |page, random| {
        let at = random.below(page.lines.len() + 1);
        page.lines.insert(at, random.text(&["```", "~~~~", "\t```rust", "```` `x`"]).to_owned());
    }),
    ("fences-in-fence", |page, random| {
        let at = random.below(page.lines.len());
        let block = "````\n```\n### Requirement: Deep\n```\n~~~\n````\n~~~\n## Purpose\n~~~~~ ";
        page.lines.splice(at..at, block.split('\n').map(str::to_owned));
    }),
    ("comment", |page, random| {
        let at = random.below(page.lines.len());
        page.lines.insert(at, "<!-- ### Requirement: Never -->".to_owned());
    }),
    ("front-matter", |page, _| {
        page.lines.splice(0..0, ["---", "kind: note", "---"].map(str::to_owned));
    }),
    ("level-6", |page, random| {
        let at = random.below(page.lines.len());
        page.lines.insert(
            at,
            random.text(&["###### Aside", "##### Aside", "####### Not one"]).to_owned(),
        );
    }),
    ("rule", |page, random| {
        let at = random.below(page.lines.len());
        page.lines
            .insert(at, random.text(&["---", "***", "===", "#hashtag", "## ", "###"]).to_owned());
    }),
    ("indent", |page, random| {
        page.lines.push(String::new());
        let at = random.below(page.lines.len());
        let indented =
            format!("{}{}", random.text(&[" ", "   ", "    ", "\t", "> "]), page.lines[at]);
        page.lines[at] = indented;
    }),
];
