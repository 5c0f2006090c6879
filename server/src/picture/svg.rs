//! A scene as SVG: a self-contained document, without scripts or external resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::color::{Color, Paint};
use super::scene::{At, Scene, Shape, Size, Text};

/// Writes the document. Writing to a string cannot fail.
pub(super) fn write(scene: &Scene) -> String {
    let mut out = String::with_capacity(64 << 10);
    let (width, height, ground) = (scene.width, scene.height, hex(scene.theme.ground()));
    let title = escaped(&scene.title);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\"><title>{title}</title>"
    );
    let glows = glows(scene);
    out.push_str("<defs>");
    for (color, name) in &glows {
        let color = hex(*color);
        let _ = write!(
            out,
            "<radialGradient id=\"g{name}\"><stop offset=\"0\" stop-color=\"{color}\"/><stop offset=\"1\" \
             stop-color=\"{color}\" stop-opacity=\"0\"/></radialGradient>"
        );
    }
    let _ = write!(
        out,
        "</defs><rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/><g fill=\"none\" stroke-linecap=\"round\">"
    );
    for shape in &scene.shapes {
        self::shape(&mut out, shape, &glows);
    }
    let _ = write!(
        out,
        "</g><g font-family=\"system-ui,sans-serif\" dominant-baseline=\"central\" stroke=\"{ground}\" stroke-width=\"3\" \
         stroke-linejoin=\"round\" paint-order=\"stroke\">"
    );
    for text in &scene.texts {
        self::text(&mut out, text);
    }
    out.push_str("</g></svg>\n");
    out
}

/// The colors of the glows, each with a number.
fn glows(scene: &Scene) -> BTreeMap<Color, usize> {
    let mut glows = BTreeMap::new();
    for shape in &scene.shapes {
        if let Shape::Glow { paint, .. } = shape {
            let next = glows.len();
            glows.entry(paint.color).or_insert(next);
        }
    }
    glows
}

fn shape(out: &mut String, shape: &Shape, glows: &BTreeMap<Color, usize>) {
    let _ = match shape {
        Shape::Glow { at, radius, paint } => {
            let name = glows.get(&paint.color).copied().unwrap_or_default();
            let fill = format!("url(#g{name})\" fill-opacity=\"{}", short(paint.opacity));
            circle(out, *at, *radius, &format!("fill=\"{fill}\""))
        }
        Shape::Band { at, inner, outer, paint } => {
            let (middle, width) = (f64::midpoint(*inner, *outer), outer - inner);
            circle(out, *at, middle, &stroke(*paint, width))
        }
        Shape::Circle { at, radius, width, paint } => {
            circle(out, *at, *radius, &stroke(*paint, *width))
        }
        Shape::Disc { at, radius, paint } => {
            let fill = format!("fill=\"{}\"{}", hex(paint.color), opacity("fill", paint.opacity));
            circle(out, *at, *radius, &fill)
        }
        Shape::Line { points, closed, width, paint } => {
            let end = if *closed { "z" } else { "" };
            let mut path = String::new();
            for (at, point) in points.iter().enumerate() {
                path.push_str(if at == 0 { "M" } else { "L" });
                pair(&mut path, *point);
            }
            write!(out, "<path d=\"{path}{end}\" {}/>", stroke(*paint, *width))
        }
        Shape::Dots { points, radius, paint } => {
            let mut path = String::new();
            for point in points {
                path.push('M');
                pair(&mut path, *point);
                path.push_str("h0");
            }
            write!(out, "<path d=\"{path}\" {}/>", stroke(*paint, radius * 2.0))
        }
    };
}

fn circle(out: &mut String, [x, y]: At, radius: f64, look: &str) -> std::fmt::Result {
    let (x, y, radius) = (short(x), short(y), short(radius));
    write!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {look}/>")
}

fn pair(out: &mut String, [x, y]: At) {
    let _ = write!(out, "{} {}", short(x), short(y));
}

fn stroke(paint: Paint, width: f64) -> String {
    let color = hex(paint.color);
    let opacity = opacity("stroke", paint.opacity);
    format!("stroke=\"{color}\" stroke-width=\"{}\"{opacity}", short(width))
}

fn opacity(of: &str, opacity: f64) -> String {
    match opacity {
        1.0.. => String::new(),
        part => format!(" {of}-opacity=\"{}\"", short(part)),
    }
}

fn text(out: &mut String, text: &Text) {
    let [x, y] = text.at.map(short);
    let (size, weight) = match text.size {
        Size::Label => (12, 400),
        Size::Title => (17, 600),
    };
    let (fill, words) = (hex(text.color), escaped(&text.text));
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"{weight}\" fill=\"{fill}\">{words}</text>"
    );
}

/// The number with at most two decimals.
fn short(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0
}

fn hex(Color([red, green, blue]): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escaped text between tags. Characters that XML does not allow are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{FFFE}' | '\u{FFFF}' => {}
            control if control.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
