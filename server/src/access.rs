//! Which universes a caller may read, change and delete, by the scopes that it has.
//!
//! `read`, `write` and `admin` are about every universe; `universe:ID:read` and similar ones about one, whose id is
//! percent-encoded as in its URI. Callers that may delete may write, and those that may write may read. Callers without
//! scopes, as those of stdin and of a socket in the data directory, may do everything.

use std::collections::BTreeMap;

use mcp_proto::Scopes;
use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode,
};

use crate::store::UniverseId;

/// The prefix of scopes about a single universe.
const PREFIX: &str = "universe:";

/// The characters that a template's `{variable}` encodes (RFC 6570 §3.2.2).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A kind of access to a universe. Each value includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// Reading it.
    Read,
    /// Changing it, and creating one.
    Write,
    /// Deleting it.
    Admin,
}

/// The access that a caller has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reach {
    everywhere: Option<Access>,
    single: BTreeMap<String, Access>,
}

impl Reach {
    /// The reach of a caller with these scopes. `None` stands for a caller without authorization, who may do
    /// everything.
    pub(crate) fn of(scopes: Option<&Scopes>) -> Self {
        let mut reach = Self { everywhere: None, single: BTreeMap::new() };
        let Some(scopes) = scopes else {
            reach.everywhere = Some(Access::Admin);
            return reach;
        };
        for scope in scopes.iter() {
            match scope.strip_prefix(PREFIX) {
                None => reach.everywhere = reach.everywhere.max(Access::named(scope)),
                Some(of_one) => {
                    if let Some((id, access)) = read_single(of_one) {
                        let had = reach.single.entry(id).or_insert(access);
                        *had = access.max(*had);
                    }
                }
            }
        }
        reach
    }

    /// Whether this access is allowed for every universe.
    pub(crate) fn is_everywhere(&self, access: Access) -> bool {
        self.everywhere >= Some(access)
    }

    /// Whether this access is allowed for any universe.
    pub(crate) fn is_somewhere(&self, access: Access) -> bool {
        self.is_everywhere(access) || self.single.values().any(|of_one| *of_one >= access)
    }

    /// Whether this access is allowed for a universe.
    pub(crate) fn allows(&self, access: Access, id: &str) -> bool {
        self.is_everywhere(access) || self.single.get(id) >= Some(&access)
    }

    /// The universes that the caller may read because of scopes about single universes.
    pub(crate) fn single(&self) -> impl Iterator<Item = UniverseId> {
        let ids = self.single.keys();
        ids.filter_map(|id| UniverseId::new(id).ok())
    }

    /// The scope that a caller lacks for this access, if any. A caller with scopes about single universes gets the
    /// scope about this universe, all others the scope about all universes, because the authorization server knows the
    /// kind of scopes that it issued.
    pub(crate) fn missing(&self, access: Access, id: Option<&str>) -> Option<Scopes> {
        let may = match id {
            Some(id) => self.allows(access, id),
            None => self.is_everywhere(access),
        };
        let word = access.word();
        let needed = match id.filter(|_| !self.single.is_empty()) {
            Some(id) => format!("{PREFIX}{}:{word}", encoded(id)),
            None => word.to_owned(),
        };
        (!may).then(|| Scopes::of([needed]))
    }

    /// The same for requests that any universe suffices for.
    pub(crate) fn missing_somewhere(&self, access: Access) -> Option<Scopes> {
        let may = self.is_somewhere(access);
        (!may).then(|| Scopes::of([access.word()]))
    }
}

impl Access {
    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    fn named(word: &str) -> Option<Self> {
        let all = [Self::Read, Self::Write, Self::Admin];
        all.into_iter().find(|access| access.word() == word)
    }
}

/// Parses a scope such as `ID:read`.
fn read_single(scope: &str) -> Option<(String, Access)> {
    let (id, access) = scope.rsplit_once(':')?;
    let id = percent_decode_str(id).decode_utf8().ok()?;
    Some((id.into_owned(), Access::named(access)?))
}

/// The id of a universe, encoded as in URIs and scopes.
pub(crate) fn encoded(id: &str) -> PercentEncode<'_> {
    utf8_percent_encode(id, ENCODED)
}
