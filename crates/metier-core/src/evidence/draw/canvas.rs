//! A sheet to draw on: the SVG backend of `plotters` with fractions of a pixel, roles for colours,
//! and pictures inside the picture.

use super::Size;
use super::colour::Role;
use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, IntoFont, RGBAColor, RGBColor, ShapeStyle, TextStyle};

// The backend counts in whole units, so a pixel is ten of them.
const UNIT: f64 = 10.0;

/// Height of most letters on a figure, in pixels.
pub const TEXT: f64 = 13.0;
/// Height of the numbers on axes.
pub const SMALL: f64 = 12.0;

/// A colour with its opacity.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    rgb: [u8; 3],
    alpha: f64,
    width: f64,
}

impl Paint {
    /// A colour as it is, in every theme.
    pub fn rgb(rgb: [u8; 3]) -> Self {
        Self { rgb, alpha: 1.0, width: 1.0 }
    }

    /// With this opacity.
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// With lines this many pixels wide.
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }
}

impl From<Role> for Paint {
    fn from(role: Role) -> Self {
        Paint::rgb(role.placeholder())
    }
}

impl Paint {
    fn style(self) -> ShapeStyle {
        let [r, g, b] = self.rgb;
        ShapeStyle {
            color: RGBAColor(r, g, b, self.alpha),
            filled: true,
            stroke_width: (self.width * UNIT).round() as u32,
        }
    }
}

/// Where text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The point is the middle of the left edge.
    Left,
    /// The point is the middle of the text.
    Middle,
    /// The point is the middle of the right edge.
    Right,
    /// The point is the middle of the upper edge.
    Top,
    /// The text reads upwards and the point is its middle.
    Upwards,
}

/// The sheet; lengths are pixels, y grows downwards.
pub struct Canvas {
    size: Size,
    height: f64,
    marks: Vec<Mark>,
    images: Vec<String>,
}

enum Mark {
    Path(Vec<(f64, f64)>, Paint),
    Polygon(Vec<(f64, f64)>, Paint),
    Circle((f64, f64), f64, Paint),
    Text(String, (f64, f64), f64, Anchor, Paint),
    Image([f64; 4]),
}

// Pictures are put where the backend was asked for a rectangle of this colour.
const PICTURE: [u8; 3] = [0, 0, 0x7F];

impl Canvas {
    /// An empty sheet of this size; its height follows from what is drawn.
    pub fn new(size: Size) -> Self {
        Self { size, height: 0.0, marks: Vec::new(), images: Vec::new() }
    }

    /// The width of the sheet.
    pub fn width(&self) -> f64 {
        self.size.width()
    }

    /// Whether the sheet is for a telephone.
    pub fn is_narrow(&self) -> bool {
        self.size.is_narrow()
    }

    /// Makes the sheet this high.
    pub fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    /// A line through points.
    pub fn path(&mut self, points: Vec<(f64, f64)>, paint: impl Into<Paint>) {
        if points.len() > 1 {
            self.marks.push(Mark::Path(points, paint.into()));
        }
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: Vec<(f64, f64)>, paint: impl Into<Paint>) {
        self.marks.push(Mark::Polygon(points, paint.into()));
    }

    /// A filled rectangle from one corner to the opposite one.
    pub fn rectangle(&mut self, a: (f64, f64), b: (f64, f64), paint: impl Into<Paint>) {
        self.polygon(vec![a, (b.0, a.1), b, (a.0, b.1)], paint);
    }

    /// A filled disc.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, paint: impl Into<Paint>) {
        self.marks.push(Mark::Circle(centre, radius, paint.into()));
    }

    /// The mark of the n-th series: colours alone are not enough for every eye.
    pub fn symbol(&mut self, n: usize, (x, y): (f64, f64), r: f64, paint: impl Into<Paint>) {
        let paint = paint.into();
        let around = |points: &[(f64, f64)]| {
            points.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect::<Vec<_>>()
        };
        match n % 4 {
            0 => self.circle((x, y), r, paint),
            1 => self.rectangle((x - 0.9 * r, y - 0.9 * r), (x + 0.9 * r, y + 0.9 * r), paint),
            2 => self.polygon(around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), paint),
            _ => self.polygon(around(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]), paint),
        }
    }

    /// Words.
    pub fn text(
        &mut self,
        text: &str,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        paint: impl Into<Paint>,
    ) {
        if !text.is_empty() {
            self.marks.push(Mark::Text(text.into(), at, size, anchor, paint.into()));
        }
    }

    /// A picture, given as a data URI, stretched over `left, top, right, bottom`.
    pub fn image(&mut self, uri: String, corners: [f64; 4], smooth: bool) {
        let rendering = if smooth { "auto" } else { "pixelated" };
        self.marks.push(Mark::Image(corners));
        self.images.push(format!(
            "<image href=\"{uri}\" preserveAspectRatio=\"none\" style=\"image-rendering:{rendering}\""
        ));
    }

    /// The sheet as SVG, entitled for those who cannot see it.
    pub fn finish(self, title: &str) -> String {
        let (width, height) = (self.size.width(), self.height.ceil());
        let mut raw = String::new();
        let mut backend =
            SVGBackend::with_string(&mut raw, (units(width) as u32, units(height) as u32));
        for mark in &self.marks {
            // Writing into a string cannot fail.
            let _ = draw(&mut backend, mark);
        }
        let _ = backend.present();
        drop(backend);
        self.dress(&raw, title, width, height)
    }

    fn dress(&self, raw: &str, title: &str, width: f64, height: f64) -> String {
        let [r, g, b] = PICTURE;
        let (fill, stroke) = (format!(" fill=\"#{r:02X}{g:02X}{b:02X}\""), " stroke=\"none\"");
        let mut images = self.images.iter();
        let mut svg = String::with_capacity(raw.len());
        for (i, line) in raw.lines().enumerate() {
            if i == 0 {
                let title = escape(title);
                svg += &format!(
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" \
                     height=\"{height}\" viewBox=\"0 0 {} {}\" role=\"img\" \
                     font-family=\"system-ui, sans-serif\">\n<title>{title}</title>",
                    units(width),
                    units(height),
                );
            } else if line.starts_with("<rect") && line.contains(&fill) {
                let place = line.trim_start_matches("<rect").replace(&fill, "").replace(stroke, "");
                svg += images.next().map_or("", String::as_str);
                svg += &place;
            } else {
                // These only repeat what the whole picture says already.
                let line = line
                    .replace(" font-family=\"sans-serif\"", "")
                    .replace(" opacity=\"1\"", "")
                    .replace(" \"/>", "\"/>");
                svg += &line;
            }
            svg.push('\n');
        }
        svg
    }
}

fn units(pixels: f64) -> i32 {
    (pixels * UNIT).round() as i32
}

fn point((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

fn draw<'a>(
    backend: &mut SVGBackend<'a>,
    mark: &Mark,
) -> Result<(), impl std::error::Error + use<'a>> {
    match mark {
        Mark::Path(points, paint) => {
            backend.draw_path(points.iter().copied().map(point), &paint.style())
        }
        Mark::Polygon(points, paint) => {
            backend.fill_polygon(points.iter().copied().map(point), &paint.style())
        }
        Mark::Circle(centre, radius, paint) => {
            backend.draw_circle(point(*centre), units(*radius) as u32, &paint.style(), true)
        }
        Mark::Text(text, at, size, anchor, paint) => {
            let (h, v) = match anchor {
                Anchor::Left => (HPos::Left, VPos::Center),
                Anchor::Middle | Anchor::Upwards => (HPos::Center, VPos::Center),
                Anchor::Right => (HPos::Right, VPos::Center),
                Anchor::Top => (HPos::Center, VPos::Top),
            };
            // The backend divides the size by this factor of its own.
            let mut font = ("sans-serif", size * UNIT * 1.24).into_font();
            if *anchor == Anchor::Upwards {
                font = font.transform(FontTransform::Rotate270);
            }
            let [r, g, b] = paint.rgb;
            let colour = RGBColor(r, g, b);
            let style = TextStyle::from(font).color(&colour).pos(Pos::new(h, v));
            backend.draw_text(text, &style, point(*at))
        }
        Mark::Image([left, top, right, bottom]) => backend.draw_rect(
            point((*left, *top)),
            point((*right, *bottom)),
            &Paint::rgb(PICTURE).style(),
            true,
        ),
    }
}

/// The width of words in pixels, roughly: no font is at hand, and every machine has its own.
pub fn text_width(text: &str, size: f64) -> f64 {
    let letters: f64 = text
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | 't' | 'f' | 'r' => 0.38,
            'm' | 'w' | 'M' | 'W' | '–' | '→' => 0.86,
            letter if letter.is_uppercase() => 0.7,
            _ => 0.59,
        })
        .sum();
    letters * size
}

/// Cuts words to a width, with an ellipsis.
pub fn fit_text(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.into();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        if text_width(&cut, size) + size > width {
            break;
        }
        cut.push(letter);
    }
    cut.trim_end().to_owned() + "…"
}

/// Breaks words into lines of at most `width`; a longer word stays whole.
pub fn wrap_text(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
