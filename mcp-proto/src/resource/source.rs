//! Resources that come from one place as a whole, such as those of an extension.

use super::{Page, PageRequest, ReadResourceResult};
use crate::content::Resource;
use crate::interrupt::RequestError;

/// Resources that a server offers besides those registered one by one
/// ([`ServerBuilder::resource_source`](crate::ServerBuilder::resource_source)). They are in memory and the same for
/// every caller, and may change at any time.
pub trait ResourceSource: Send + Sync + 'static {
    /// A page of those that are listed, in an order that stays when some of them change.
    fn list(&self, page: PageRequest) -> Page<Resource>;

    /// Whether a resource is at this URI. It need not be listed.
    fn has(&self, uri: &str) -> bool;

    /// What is at this URI, if it belongs to this source.
    fn read(&self, uri: &str) -> Option<Result<ReadResourceResult, RequestError>>;

    /// Whether clients may keep what is at this URI as long as a list; otherwise as long as the result says. True by
    /// default.
    fn is_cacheable(&self, _uri: &str) -> bool {
        true
    }
}
