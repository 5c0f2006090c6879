//! The belts, fields and disks of a universe, as a picture shows them.

use std::collections::BTreeMap;

use serde::Deserialize;
use universe_core::{Record, State};

use super::color::Color;

/// The most belts, fields and disks (of each) that a picture reads.
const MAX_READ: usize = 500;

/// The belts, fields and disks of a universe, by the body that they surround. Each is read once for a picture.
pub(super) struct Bands(BTreeMap<String, Vec<Band>>);

/// A belt, field or disk.
pub(super) struct Band {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) inner: f64,
    pub(super) outer: f64,
    pub(super) color: Color,
    pub(super) specks: Color,
    pub(super) is_disk: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members {
    name: Option<String>,
    region_label: Option<String>,
    host_star_id: Option<String>,
    central_star_id: Option<String>,
    parent_id: Option<String>,
    inner_radius: Option<f64>,
    outer_radius: Option<f64>,
    base_color: Option<String>,
    highlight_color: Option<String>,
    color: Option<String>,
    visible: Option<bool>,
}

impl Bands {
    pub(super) fn of(state: &State) -> Self {
        let fields = state.small_body_fields().take(MAX_READ);
        let disks = state.protoplanetary_disks().take(MAX_READ);
        let belts = state.belts().take(MAX_READ);
        let all = fields.map(|it| (it, false));
        let all = all.chain(disks.map(|it| (it, true)));
        let all = all.chain(belts.map(|it| (it, false)));
        let mut by_host = BTreeMap::<_, Vec<_>>::new();
        for ((id, record), is_disk) in all {
            if let Some((host, band)) = band(id, record, is_disk) {
                by_host.entry(host).or_default().push(band);
            }
        }
        Self(by_host)
    }

    /// The bands around a body.
    pub(super) fn around(&self, host: &str) -> &[Band] {
        self.0.get(host).map_or(&[], Vec::as_slice)
    }
}

/// The band of a record, and the body that it surrounds. `None` if the record is not drawn.
fn band(id: &str, record: &Record, is_disk: bool) -> Option<(String, Band)> {
    let it: Members = record.read()?;
    let host = it.host_star_id.or(it.central_star_id).or(it.parent_id)?;
    let (inner, outer) = (it.inner_radius?, it.outer_radius?);
    if it.visible == Some(false) || inner >= outer || outer <= 0.0 {
        return None;
    }
    let color = it.base_color.or(it.color);
    let band = Band {
        id: id.to_owned(),
        name: it.name.or(it.region_label).unwrap_or_default(),
        // A band from the center outward would be infinitely wide on a logarithmic scale.
        inner: inner.max(outer * 1e-2),
        outer,
        specks: Color::read(it.highlight_color.as_deref().or(color.as_deref())),
        color: Color::read(color.as_deref()),
        is_disk,
    };
    Some((host, band))
}
