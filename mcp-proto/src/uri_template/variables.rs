//! The values of a template's variables.

/// The value of a variable. RFC 6570 defines strings, lists and associative arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UriValue {
    /// One string, which may be empty.
    Text(String),
    /// Strings in order. An empty list counts as no value.
    List(Vec<String>),
    /// Keys with their values, in order. An empty map counts as no value.
    Map(Vec<(String, String)>),
}

/// Values by the names of their variables, in the order of insertion.
///
/// A small map for small templates: a lookup compares all names in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Vec<(String, UriValue)>);

impl Variables {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable, replacing any earlier value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<UriValue>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The string of this name; `None` if the name does not exist, or is a list or a map.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            UriValue::Text(text) => Some(text),
            UriValue::List(_) | UriValue::Map(_) => None,
        }
    }

    /// The list of this name; a string is a list of one. `None` if the name does not exist, or is a map.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[String]> {
        match self.value(name)? {
            UriValue::Text(text) => Some(std::slice::from_ref(text)),
            UriValue::List(items) => Some(items),
            UriValue::Map(_) => None,
        }
    }

    /// The value of this name, of any kind.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&UriValue> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The names with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &UriValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many names have values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<UriValue>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let mut variables = Self::new();
        variables.extend(values);
        variables
    }
}

impl<N: Into<String>, V: Into<UriValue>> Extend<(N, V)> for Variables {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, values: I) {
        for (name, value) in values {
            self.insert(name, value);
        }
    }
}

impl<N: Into<String>, V: Into<UriValue>, const LEN: usize> From<[(N, V); LEN]> for Variables {
    fn from(values: [(N, V); LEN]) -> Self {
        values.into_iter().collect()
    }
}

impl From<&str> for UriValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for UriValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for UriValue {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

impl From<Vec<(String, String)>> for UriValue {
    fn from(pairs: Vec<(String, String)>) -> Self {
        Self::Map(pairs)
    }
}
