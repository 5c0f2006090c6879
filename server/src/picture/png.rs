//! A scene as PNG. Letters are those of Noto Sans Mono, which is part of the program: fonts of the machine are not
//! used.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};
use tiny_skia::{
    Color as Rgba, FillRule, GradientStop, LineCap, LineJoin, Paint as Ink, Path, PathBuilder,
    Pixmap, Point, PremultipliedColorU8, RadialGradient, SpreadMode, Stroke, Transform,
};

use super::color::{Color, Paint};
use super::scene::{At, Scene, Shape, Size, Text};

/// Writes the file. `None` if the library fails.
pub(super) fn write(scene: &Scene) -> Option<Vec<u8>> {
    let mut pixels = Pixmap::new(scene.width, scene.height)?;
    pixels.fill(rgba(scene.theme.ground().at(1.0)));
    for shape in &scene.shapes {
        // A shape without a size is skipped.
        let _ = self::shape(&mut pixels, shape);
    }
    for text in &scene.texts {
        self::text(&mut pixels, text, scene.theme.ground());
    }
    pixels.encode_png().ok()
}

fn shape(pixels: &mut Pixmap, shape: &Shape) -> Option<()> {
    match shape {
        Shape::Glow { at, radius, paint } => {
            let [x, y] = at.map(|part| part as f32);
            let stops = vec![
                GradientStop::new(0.0, rgba(*paint)),
                GradientStop::new(1.0, rgba(paint.color.at(0.0))),
            ];
            let middle = Point::from_xy(x, y);
            let shader = RadialGradient::new(
                middle,
                0.0,
                middle,
                *radius as f32,
                stops,
                SpreadMode::Pad,
                Transform::identity(),
            )?;
            let mut ink = ink(*paint);
            ink.shader = shader;
            fill(pixels, &circle(*at, *radius)?, &ink);
        }
        Shape::Band { at, inner, outer, paint } => {
            let middle = circle(*at, f64::midpoint(*inner, *outer))?;
            stroke(pixels, &middle, outer - inner, *paint);
        }
        Shape::Circle { at, radius, width, paint } => {
            stroke(pixels, &circle(*at, *radius)?, *width, *paint);
        }
        Shape::Line { points, closed, width, paint } => {
            let mut path = PathBuilder::new();
            for (at, [x, y]) in points.iter().enumerate() {
                match at {
                    0 => path.move_to(*x as f32, *y as f32),
                    _ => path.line_to(*x as f32, *y as f32),
                }
            }
            if *closed {
                path.close();
            }
            stroke(pixels, &path.finish()?, *width, *paint);
        }
        Shape::Disc { at, radius, paint } => fill(pixels, &circle(*at, *radius)?, &ink(*paint)),
        Shape::Dots { points, radius, paint } => {
            let mut path = PathBuilder::new();
            for [x, y] in points {
                path.push_circle(*x as f32, *y as f32, *radius as f32);
            }
            fill(pixels, &path.finish()?, &ink(*paint));
        }
    }
    Some(())
}

fn circle([x, y]: At, radius: f64) -> Option<Path> {
    PathBuilder::from_circle(x as f32, y as f32, radius as f32)
}

fn fill(pixels: &mut Pixmap, path: &Path, ink: &Ink<'_>) {
    pixels.fill_path(path, ink, FillRule::Winding, Transform::identity(), None);
}

fn stroke(pixels: &mut Pixmap, path: &Path, width: f64, paint: Paint) {
    let stroke = Stroke {
        width: width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    };
    pixels.stroke_path(path, &ink(paint), &stroke, Transform::identity(), None);
}

fn ink<'a>(paint: Paint) -> Ink<'a> {
    let mut ink = Ink::default();
    ink.set_color(rgba(paint));
    ink.anti_alias = true;
    ink
}

fn rgba(Paint { color, opacity }: Paint) -> Rgba {
    let Color([red, green, blue]) = color;
    let opacity = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    Rgba::from_rgba8(red, green, blue, opacity)
}

/// Draws text with an outline in the background color, so that lines do not run through it.
fn text(pixels: &mut Pixmap, text: &Text, ground: Color) {
    const SEAM: [(i32, i32); 8] =
        [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
    for (x, y) in SEAM {
        letters(pixels, text, ground, (x, y));
    }
    letters(pixels, text, text.color, (0, 0));
}

fn letters(pixels: &mut Pixmap, text: &Text, color: Color, (right, down): (i32, i32)) {
    let height = match text.size {
        Size::Label => RasterHeight::Size16,
        Size::Title => RasterHeight::Size20,
    };
    let [x, y] = text.at.map(|part| part.round() as i32);
    let (mut left, top) = (x + right, y + down - height.val() as i32 / 2);
    for letter in text.text.chars() {
        // A character that the font lacks is shown as a question mark.
        let raster = get_raster(letter, FontWeight::Regular, height)
            .or_else(|| get_raster('?', FontWeight::Regular, height));
        let Some(raster) = raster else { continue };
        for (row, line) in (top..).zip(raster.rows()) {
            for (column, &cover) in (left..).zip(line) {
                if cover > 0 {
                    // Pixels outside of the picture are cut off.
                    let _ = mix(pixels, (column, row), color, cover);
                }
            }
        }
        left += raster.width() as i32;
    }
}

/// Blends a color over a pixel of an opaque picture.
fn mix(pixels: &mut Pixmap, (x, y): (i32, i32), Color(over): Color, cover: u8) -> Option<()> {
    let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
    if x >= pixels.width() {
        return None;
    }
    let at = usize::try_from(y.checked_mul(pixels.width())?.checked_add(x)?).ok()?;
    let pixel = pixels.pixels_mut().get_mut(at)?;
    let below = [pixel.red(), pixel.green(), pixel.blue()];
    let mut mixed = below.into_iter().zip(over).map(|(below, over)| {
        let part = u16::from(over) * u16::from(cover) + u16::from(below) * (255 - u16::from(cover));
        (part / 255) as u8
    });
    let (red, green, blue) = (mixed.next()?, mixed.next()?, mixed.next()?);
    *pixel = PremultipliedColorU8::from_rgba(red, green, blue, u8::MAX)?;
    Some(())
}
