//! The errors in an input: all of them at once, each with its path, up to a limit.

use std::fmt;

use serde::Serialize;

/// One error in an input, and its path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where: a JSON Pointer (RFC 6901) into the input, empty for the input itself. Names of more
    /// than 80 characters are cut.
    pub path: String,
    /// What is wrong and what would be right, as a fragment that reads well after the path.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{place}: {}", self.message)
    }
}

/// All findings about one input, in the order of the input.
///
/// At most [`Findings::LIMIT`] are kept; the rest are only counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    kept: Vec<Finding>,
    omitted: usize,
}

impl Findings {
    /// How many findings are kept.
    pub const LIMIT: usize = 50;

    /// The kept findings, in the order of the input.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.kept.iter()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many findings are kept, at most [`Findings::LIMIT`].
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// How many findings were counted but not kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The number of all findings, kept or not.
    pub(crate) fn count(&self) -> usize {
        self.kept.len() + self.omitted
    }

    /// Adds a finding about a member of the input.
    pub fn add(&mut self, member: &str, message: impl fmt::Display) {
        self.push(&Path::ROOT.at(&member), message);
    }

    pub(crate) fn push(&mut self, path: &Path<'_>, message: impl fmt::Display) {
        if self.kept.len() < Self::LIMIT {
            let (path, message) = (path.to_string(), message.to_string());
            self.kept.push(Finding { path, message });
        } else {
            self.omitted += 1;
        }
    }

    /// Adds findings about the same input, or about an element of it if it is a list.
    pub fn extend(&mut self, index: Option<usize>, findings: Self) {
        let place = index.map(|index| format!("/{index}")).unwrap_or_default();
        for Finding { path, message } in findings.kept {
            if self.kept.len() < Self::LIMIT {
                let path = format!("{place}{path}");
                self.kept.push(Finding { path, message });
            } else {
                self.omitted += 1;
            }
        }
        self.omitted += findings.omitted;
    }

    /// `Ok` if nothing was found.
    pub(crate) fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The array of findings, `[{"path": …, "message": …}]`.
impl Serialize for Findings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kept.serialize(serializer)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.kept.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{finding}")?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "; and {omitted} more"),
        }
    }
}

impl std::error::Error for Findings {}

/// A place in the input, kept on the stack and rendered only when something is wrong there.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Self>,
    segment: &'a dyn fmt::Display,
}

impl<'a> Path<'a> {
    /// The input itself.
    pub(crate) const ROOT: Path<'static> = Path { parent: None, segment: &"" };

    /// Whether this is the input itself.
    pub(crate) fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    /// The member or the element of this place.
    pub(crate) fn at(&'a self, segment: &'a dyn fmt::Display) -> Self {
        Self { parent: Some(self), segment }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As deep as the member tables nest, so a handful of steps.
        let mut segments = Vec::new();
        let mut place = self;
        while let Some(parent) = place.parent {
            segments.push(place.segment);
            place = parent;
        }
        for segment in segments.iter().rev() {
            let segment = segment.to_string();
            let (shown, rest) = shorten(&segment);
            let shown = shown.replace('~', "~0").replace('/', "~1");
            write!(f, "/{shown}{rest}")?;
        }
        Ok(())
    }
}

/// A text of the input in quotes, cut if it is long: findings are many, so each must be small.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, rest) = shorten(self.0);
        write!(f, "{shown:?}{rest}")
    }
}

/// The beginning of a text, and an ellipsis if there is more.
fn shorten(text: &str) -> (&str, &str) {
    const SHOWN: usize = 80;
    let end = text.char_indices().nth(SHOWN);
    match end.and_then(|(end, _)| text.split_at_checked(end)) {
        Some((shown, _)) => (shown, "…"),
        None => (text, ""),
    }
}
