//! Writing a picture: lines for gates, a circle and a name for each system, a legend below.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::map::{Map, SystemIndex, shown_security};

use super::labels::Labels;
use super::layout::Layout;
use super::{MAX_SIDE, Scene};

/// The heights of the title and the legend in pixels.
const TITLE: f64 = 40.0;
const LEGEND: f64 = 62.0;

/// The colour of a system by its shown security in tenths, from 1.0 down to 0.0 and below: blue, green, yellow, red,
/// violet.
const COLOURS: [&str; 11] = [
    "#3b82f6", "#38a3f0", "#35c4e0", "#3fd0a0", "#63d84f", "#e8e04a", "#f0953a", "#e8702e",
    "#dc4a2a", "#c43131", "#a855a8",
];

const ROUTE: &str = "#ffffff";
const INK: &str = "#d6dce6";

pub(super) fn write(scene: &Scene<'_>, layout: &Layout) -> String {
    let caption = caption(scene, layout);
    let texts = written(&scene.title, 16.0).max(written(&caption, 10.0));
    let width = layout.width.max(texts.min(MAX_SIDE)).ceil();
    let height = (layout.height + TITLE + LEGEND).ceil();
    let left = (width - layout.width) / 2.0;
    let mut out = String::with_capacity(4_096 + layout.places.len() * 400);
    let title = escape(&scene.title);
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Verdana, DejaVu Sans, sans-serif\" font-size=\"11\" fill=\"{INK}\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#0f131a\"/>\n\
         <text x=\"16\" y=\"26\" font-size=\"16\">{title}</text>\n\
         <g transform=\"translate({left:.1} {TITLE})\">\n"
    );
    gates(&mut out, scene, layout);
    way(&mut out, scene, layout);
    systems(&mut out, scene, layout);
    out.push_str("</g>\n");
    legend(&mut out, layout, &caption, TITLE + layout.height);
    out.push_str("</svg>\n");
    out
}

/// A line for each gate between two systems of the picture.
fn gates(out: &mut String, scene: &Scene<'_>, layout: &Layout) {
    let inside: BTreeSet<SystemIndex> = scene.systems.iter().copied().collect();
    out.push_str("<g stroke-width=\"1.2\">\n");
    for (&from, &(x1, y1)) in &layout.places {
        for &to in scene.map.neighbours(from) {
            let Some(&(x2, y2)) = layout.places.get(&to) else {
                continue;
            };
            let main = inside.contains(&from) && inside.contains(&to);
            // A gate between two surrounding systems is not part of the subject of the picture.
            if to < from || !(inside.contains(&from) || inside.contains(&to)) {
                continue;
            }
            let colour = if main { "#5b6b80" } else { "#2c3644" };
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
            );
        }
    }
    out.push_str("</g>\n");
}

/// The route as one thick line. A step without a gate, such as a jump bridge, is dashed.
fn way(out: &mut String, scene: &Scene<'_>, layout: &Layout) {
    for step in scene.route.windows(2) {
        let [from, to] = step else { continue };
        let (Some((x1, y1)), Some((x2, y2))) = (layout.places.get(from), layout.places.get(to))
        else {
            continue;
        };
        let dashes =
            if scene.map.neighbours(*from).contains(to) { "" } else { " stroke-dasharray=\"6 5\"" };
        let _ = writeln!(
            out,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{ROUTE}\" stroke-width=\"3.5\" \
             stroke-linecap=\"round\"{dashes}/>"
        );
    }
}

fn systems(out: &mut String, scene: &Scene<'_>, layout: &Layout) {
    let mut labels = Labels::new(layout.width, layout.height);
    for place in layout.places.values() {
        labels.keep_free(*place, 6.0);
    }
    // A name on top of the thick line would be hard to read.
    for step in scene.route.windows(2) {
        let [from, to] = step else { continue };
        if let (Some(from), Some(to)) = (layout.places.get(from), layout.places.get(to)) {
            labels.keep_line_free(*from, *to);
        }
    }
    let ends = [scene.route.first(), scene.route.last()];
    for &system in &scene.systems {
        let Some(&place) = layout.places.get(&system) else {
            continue;
        };
        let is_end = ends.contains(&Some(&system));
        circle(out, scene.map, system, place, if is_end { 8.0 } else { 5.5 }, 1.0);
        let name = scene.map.name(system);
        let label = labels.place(place, name);
        let weight = if is_end { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\"{weight}>{}</text>",
            label.x,
            label.y,
            label.anchor,
            escape(name)
        );
    }
    for &system in &scene.around {
        let Some(&place) = layout.places.get(&system) else {
            continue;
        };
        circle(out, scene.map, system, place, 3.5, 0.45);
        if scene.named {
            let record = scene.map.system(system);
            let label = labels.place(place, &record.name);
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\" fill=\"#7f8a99\" font-size=\"10\">{}</text>",
                label.x,
                label.y,
                label.anchor,
                escape(&record.name)
            );
        }
    }
}

/// A system as a circle in the colour of its security; hovering over it shows more.
fn circle(
    out: &mut String,
    map: &Map,
    system: SystemIndex,
    (x, y): (f64, f64),
    radius: f64,
    opacity: f64,
) {
    let record = map.system(system);
    let security = shown_security(record.security);
    let caption = format!(
        "{} {security:.1}, {}, {}",
        record.name,
        map.constellation(record.constellation).name,
        map.region(record.region).name
    );
    let _ = writeln!(
        out,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{}\" fill-opacity=\"{opacity}\" stroke=\"#0f131a\">\
         <title>{}</title></circle>",
        colour(security),
        escape(&caption)
    );
}

fn colour(security: f64) -> &'static str {
    let tenths = (security.max(0.0) * 10.0).round() as usize;
    let [.., last] = COLOURS;
    COLOURS.get(10_usize.saturating_sub(tenths)).unwrap_or(&last)
}

fn legend(out: &mut String, layout: &Layout, caption: &str, top: f64) {
    let _ = writeln!(out, "<g transform=\"translate(16 {top:.1})\" font-size=\"10\">");
    for (at, colour) in COLOURS.iter().enumerate() {
        let (x, tenths) = (at * 20, 10 - at);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"0\" width=\"20\" height=\"8\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"19\" text-anchor=\"middle\">{}.{}</text>",
            x + 10,
            tenths / 10,
            tenths % 10
        );
    }
    if let Some(light_year) = layout.light_year {
        // The scale bar has a round length that is easy to see and to count with.
        let years = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
        let years = years.into_iter().find(|years| years * light_year >= 30.0);
        let years = years.unwrap_or(100.0);
        let _ = writeln!(
            out,
            "<line x1=\"236\" y1=\"4\" x2=\"{:.1}\" y2=\"4\" stroke=\"{INK}\" stroke-width=\"2\"/>\
             <text x=\"236\" y=\"19\">{years} light years</text>",
            236.0 + (years * light_year).min(layout.width - 260.0).max(1.0)
        );
    }
    let _ = writeln!(out, "<text x=\"0\" y=\"38\">{}</text>\n</g>", escape(caption));
}

/// The text below a picture: the projection, the version of the data, and what is left out.
fn caption(scene: &Scene<'_>, layout: &Layout) -> String {
    let drawn = match layout.light_year {
        Some(_) => "seen from above, north up",
        None => "drawn in order: the map has no positions of these systems",
    };
    let mut caption = format!("security; {drawn}; data {}", scene.map.version());
    for note in scene.notes {
        let _ = write!(caption, "; {note}");
    }
    let unplaced = scene.systems.iter().filter(|system| !layout.places.contains_key(system));
    for (count, what) in
        [(unplaced.count(), "without a position are not drawn"), (scene.left_out, "are left out")]
    {
        if count > 0 {
            let _ = write!(caption, "; {count} systems {what}");
        }
    }
    caption
}

/// The approximate width of a text, with a margin on both sides: a character is three fifths as wide as it is high.
fn written(text: &str, height: f64) -> f64 {
    text.chars().count() as f64 * height * 0.6 + 32.0
}

/// A text escaped for XML, without characters that XML does not allow.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
