//! The card as a picture.

use super::drawing::{Anchor, Colour, Drawing, Mark, WIDTH};
use super::escape;
use crate::agentscore::Checklist;

impl Checklist {
    /// The card as an SVG picture.
    pub fn to_svg(&self) -> String {
        let drawing = Drawing::new(self);
        let body: String = drawing.marks.iter().map(element).collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {h}\" width=\"{WIDTH}\" height=\"{h}\" \
             font-family=\"Helvetica, Arial, sans-serif\" role=\"img\" aria-label=\"{}\">\n\
             <rect width=\"{WIDTH}\" height=\"{h}\" fill=\"#fff\" stroke=\"#bbb\"/>\n{body}</svg>\n",
            escape(&self.heading()),
            h = drawing.height
        )
    }
}

fn element(mark: &Mark) -> String {
    match mark {
        Mark::Text { x, y, anchor, size, bold, colour, text } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight} fill=\"{}\">{}</text>\n",
                hex(*colour),
                escape(text)
            )
        }
        Mark::Bar { x, y, width, height, colour } => format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{}\"/>\n",
            hex(*colour)
        ),
        Mark::Tick { x, y, side } => format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" rx=\"3\" fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\"/>\n"
        ),
        Mark::Rule { from, to, y } => format!(
            "<line x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#222\" stroke-width=\"1.5\"/>\n"
        ),
    }
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
