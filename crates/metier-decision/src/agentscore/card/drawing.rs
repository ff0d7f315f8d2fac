//! What is drawn where on the card, in pixels from the upper left corner.

use super::whole;
use crate::agentscore::Checklist;

/// How wide every card is.
pub(super) const WIDTH: f64 = 640.0;
/// What is drawn, in order.
pub(super) struct Drawing {
    pub height: f64,
    pub marks: Vec<Mark>,
}

/// A colour: red, green and blue.
pub(super) type Colour = [u8; 3];

pub(super) enum Mark {
    Text {
        x: f64,
        y: f64,
        anchor: Anchor,
        size: f64,
        bold: bool,
        colour: Colour,
        text: String,
    },
    /// A filled rectangle.
    Bar {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        colour: Colour,
    },
    /// An empty square to tick.
    Tick {
        x: f64,
        y: f64,
        side: f64,
    },
    /// A level line.
    Rule {
        from: f64,
        to: f64,
        y: f64,
    },
}

/// Which point of a text lies at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

const INK: Colour = [0x11, 0x11, 0x11];
const FAINT: Colour = [0x55, 0x55, 0x55];
const PAPER: Colour = [0xff, 0xff, 0xff];
const ACT: Colour = [0x8a, 0x1c, 0x1c];
const CALM: Colour = [0x5b, 0x70, 0x83];

impl Drawing {
    pub(super) fn new(checklist: &Checklist) -> Self {
        let mut drawing = Self { height: 0.0, marks: Vec::new() };
        let mut y = 44.0;
        for line in wrap(&checklist.heading(), 54) {
            drawing.text((24.0, y), Anchor::Start, (20.0, true), INK, line);
            y += 26.0;
        }
        y += 10.0;
        for item in &checklist.items {
            drawing.marks.push(Mark::Tick { x: 24.0, y: y - 14.0, side: 16.0 });
            drawing.text((600.0, y), Anchor::End, (16.0, false), INK, "1".into());
            for line in wrap(&item.text, 58) {
                drawing.text((52.0, y), Anchor::Start, (16.0, false), INK, line);
                y += 20.0;
            }
            y += 10.0;
        }
        y += 4.0;
        let act = format!("Act at {} or more of {} points", checklist.theta, checklist.items.len());
        drawing.bar((24.0, y - 20.0), (592.0, 34.0), ACT);
        drawing.text((320.0, y + 3.0), Anchor::Middle, (17.0, true), PAPER, act);
        y += 44.0;
        // One bar per number of points, with its interval.
        for row in &checklist.risk.rows {
            let at = |share: f64| 110.0 + 400.0 * share;
            let colour = if row.points >= checklist.theta { ACT } else { CALM };
            let points = row.points.to_string();
            drawing.text((88.0, y), Anchor::End, (15.0, false), INK, points);
            drawing.bar((110.0, y - 12.0), (400.0 * row.risk, 14.0), colour);
            drawing.marks.push(Mark::Rule { from: at(row.low), to: at(row.high), y: y - 5.0 });
            drawing.text((600.0, y), Anchor::End, (15.0, false), INK, whole(row.risk));
            y += 24.0;
        }
        y += 8.0;
        for line in wrap(&checklist.footing(), 88) {
            drawing.text((24.0, y), Anchor::Start, (12.0, false), FAINT, line);
            y += 17.0;
        }
        drawing.height = y + 8.0;
        drawing
    }

    fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        (size, bold): (f64, bool),
        colour: Colour,
        text: String,
    ) {
        self.marks.push(Mark::Text { x, y, anchor, size, bold, colour, text });
    }

    fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: Colour) {
        self.marks.push(Mark::Bar { x, y, width, height, colour });
    }
}

// Words in lines of at most `width` letters; a longer word has a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
