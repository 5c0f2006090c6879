//! The values of a template's variables.

/// Values by the names of their variables, in the order of insertion.
///
/// A small map for small templates: a lookup compares all names in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Vec<(String, String)>);

impl Variables {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable, which may be empty. Replaces any earlier value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The value of this name, if it has one.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The names with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many names have values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let mut variables = Self::new();
        variables.extend(values);
        variables
    }
}

impl<N: Into<String>, V: Into<String>> Extend<(N, V)> for Variables {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, values: I) {
        for (name, value) in values {
            self.insert(name, value);
        }
    }
}

impl<N: Into<String>, V: Into<String>, const LEN: usize> From<[(N, V); LEN]> for Variables {
    fn from(values: [(N, V); LEN]) -> Self {
        values.into_iter().collect()
    }
}
