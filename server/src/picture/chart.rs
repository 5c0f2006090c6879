//! From a universe to a scene: systems, what circles in them, names, and a line on what is shown.

mod body;
mod system;

use universe_core::State;

use super::bands::Bands;
use super::cells::{self, Shown};
use super::labels::{Labels, Wanted, shortened};
use super::painter::Painter;
use super::regions;
use super::scene::{Scene, Shape, Size, Text};
use super::view::Body;
use super::{MAX_BODIES, Options, PictureError};
use crate::commands::Universe;

/// The height of the margins at the top and at the bottom, in pixels.
const HEAD: f64 = 52.0;
const FOOT: f64 = 46.0;
/// The smallest size of a picture with text.
const WORDS: (u32, u32) = (320, 240);
/// The most groups whose names are shown.
const MAX_GROUPS: usize = 8;
/// The most planets without a star whose names are shown.
const MAX_ROGUES: usize = 16;

pub(super) fn draw(universe: &Universe, options: &Options) -> Result<Scene, PictureError> {
    let state = &universe.state;
    let (width, height) = (f64::from(options.width), f64::from(options.height));
    let words = options.width >= WORDS.0 && options.height >= WORDS.1;
    let (head, foot) = if words { (HEAD, FOOT) } else { (0.0, 0.0) };
    let area = [8.0, head, (width - 16.0).max(8.0), (height - head - foot).max(8.0)];
    let shown = cells::shown(state, options.focus.as_deref(), area)?;
    let time = match options.time {
        Some(time) => state.time_of(time).map_err(PictureError::NoEpoch)?,
        None => state.time(),
    };
    let frame = [4.0, 4.0, width - 4.0, height - 4.0];
    let bands = Bands::of(state);
    let mut painter = Painter {
        state,
        bands: &bands,
        time,
        theme: options.theme,
        shapes: Vec::new(),
        labels: Labels::new(frame),
        words,
        left: MAX_BODIES,
    };
    let mut texts = Vec::new();
    if words {
        texts.extend(heading(&mut painter, universe, options, &shown));
        texts.extend(footing(&mut painter, height));
    }
    regions::nebulae(&mut painter, &shown, area);
    let alone = shown.cells.len() == 1;
    for cell in &shown.cells {
        let color = cell.group.and_then(|at| shown.groups.get(at)).map(|group| group.color);
        painter.system(cell, color, alone);
    }
    rogues(&mut painter, &shown.rogues, area);
    if shown.cells.is_empty() && shown.rogues.is_empty() && words {
        let text = "nothing is here yet".to_owned();
        let at = [(width - Size::Title.width(&text)) / 2.0, height / 2.0];
        let color = options.theme.muted();
        texts.push(Text { at, text, size: Size::Title, color });
    }
    let title = title(universe, options);
    let Painter { shapes, labels, .. } = painter;
    texts.extend(labels.place());
    Ok(Scene {
        width: options.width,
        height: options.height,
        theme: options.theme,
        title,
        shapes,
        texts,
    })
}

fn title(universe: &Universe, options: &Options) -> String {
    let name = shortened(&universe.name, 60);
    match &options.focus {
        None => name,
        Some(id) => {
            let star = universe.state.star(id).map(|star| Body::of(&universe.state, star).name);
            let group = universe.state.group(id).and_then(|group| group.get("name")?.as_str());
            let focus = star.or(group.map(str::to_owned));
            format!("{name}: {}", shortened(&focus.unwrap_or_default(), 40))
        }
    }
}

/// The title, the counts and the groups.
fn heading(
    painter: &mut Painter<'_>,
    universe: &Universe,
    options: &Options,
    shown: &Shown,
) -> Vec<Text> {
    let theme = options.theme;
    let room = f64::from(options.width) - 32.0;
    let fitting = |size: Size, text: &str| shortened(text, (room / size.letter()) as usize);
    let mut texts = vec![
        Text {
            at: [16.0, 20.0],
            text: fitting(Size::Title, &title(universe, options)),
            size: Size::Title,
            color: theme.letters(),
        },
        Text {
            at: [16.0, 40.0],
            text: fitting(
                Size::Label,
                &counted(&universe.state, painter.time, universe.revision.0),
            ),
            size: Size::Label,
            color: theme.muted(),
        },
    ];
    // From the right, as far as there is space next to the title.
    let mut right = f64::from(options.width) - 16.0;
    let taken = texts.first().map_or(0.0, |title| 16.0 + title.size.width(&title.text));
    if shown.groups.len() > 1 {
        for group in shown.groups.iter().take(MAX_GROUPS).rev() {
            let text = shortened(&group.name, 20);
            let begin = right - Size::Label.width(&text);
            if begin - 16.0 < taken + 24.0 {
                break;
            }
            painter.shapes.push(Shape::Disc {
                at: [begin - 9.0, 20.0],
                radius: 4.0,
                paint: group.color.at(1.0),
            });
            texts.push(Text { at: [begin, 20.0], text, size: Size::Label, color: theme.muted() });
            right = begin - 30.0;
        }
    }
    texts.into_iter().filter_map(|text| painter.labels.put(text)).collect()
}

fn footing(painter: &mut Painter<'_>, height: f64) -> Option<Text> {
    painter.labels.put(Text {
        at: [16.0, height - 16.0],
        text: "seen from above; distances on a logarithmic scale, sizes not to scale".to_owned(),
        size: Size::Label,
        color: painter.theme.muted(),
    })
}

fn counted(state: &State, time: f64, revision: u64) -> String {
    let bodies = state.star_count();
    let mut parts = vec![match bodies {
        1 => "1 body".to_owned(),
        many => format!("{many} bodies"),
    }];
    if bodies > MAX_BODIES {
        parts.push(format!("at most {MAX_BODIES} of them drawn"));
    }
    parts.push(state.date_of(time).unwrap_or_else(|| format!("time {time} s")));
    parts.push(format!("revision {revision}"));
    parts.join(" \u{B7} ")
}

/// Planets without a star, in a row at the bottom.
fn rogues(painter: &mut Painter<'_>, rogues: &[Body], [left, top, width, height]: [f64; 4]) {
    let count = rogues.len().min(200);
    let step = (width / (count.max(1) as f64)).min(170.0);
    let named = count <= MAX_ROGUES && step > 90.0;
    for (body, n) in rogues.iter().take(count).zip(0_u32..) {
        let at = [left + 16.0 + f64::from(n) * step, top + height + 8.0];
        painter.shapes.push(Shape::Disc { at, radius: 4.0, paint: body.color.at(1.0) });
        painter.labels.keep_off(at, 4.0);
        if named && painter.words {
            painter.labels.want(Wanted {
                at,
                distance: 4.0,
                text: shortened(&body.name, (step / 7.0) as usize - 2),
                color: painter.theme.muted(),
                rank: 0.5,
            });
        }
    }
}
