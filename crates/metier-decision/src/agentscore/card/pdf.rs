//! The card on paper: one page of A4 in Helvetica and Symbol, which every reader of PDF has, so that
//! nothing is embedded and the text can be searched and copied.

use super::drawing::{Anchor, Colour, Drawing, Mark, WIDTH};
use crate::agentscore::Checklist;
use metier_core::{Error, Result};
use pdf_writer::{Content, Name, Pdf, Rect, Ref, Str, TextStr};

// A4 in points.
const PAGE: (f64, f64) = (595.0, 842.0);
const MARGIN: f64 = 42.0;

impl Checklist {
    /// The card as a PDF of one page.
    ///
    /// # Errors
    /// A letter in a label that the fonts of PDF readers lack, which is named.
    pub fn to_pdf(&self) -> Result<Vec<u8>> {
        let drawing = Drawing::new(self);
        let content = page(&drawing)?;
        let [catalog, pages, sheet, stream, info] = [1, 2, 3, 4, 5].map(Ref::new);
        let fonts = [
            (PLAIN, "Helvetica", Ref::new(6)),
            (BOLD, "Helvetica-Bold", Ref::new(7)),
            (SYMBOL, "Symbol", Ref::new(8)),
        ];
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages).lang(TextStr("en"));
        pdf.pages(pages).kids([sheet]).count(1);
        {
            let mut page = pdf.page(sheet);
            page.media_box(Rect::new(0.0, 0.0, PAGE.0 as f32, PAGE.1 as f32));
            page.parent(pages).contents(stream);
            let mut resources = page.resources();
            let mut names = resources.fonts();
            for (name, _, font) in fonts {
                names.pair(name, font);
            }
        }
        pdf.stream(stream, &content);
        for (name, face, font) in fonts {
            let mut font = pdf.type1_font(font);
            font.base_font(Name(face.as_bytes()));
            // Symbol has an encoding of its own.
            if name != SYMBOL {
                font.encoding_predefined(Name(b"WinAnsiEncoding"));
            }
        }
        pdf.document_info(info).title(TextStr(&self.heading())).producer(TextStr("metier"));
        Ok(pdf.finish())
    }
}

fn page(drawing: &Drawing) -> Result<Vec<u8>> {
    // As wide as the margins allow, or smaller where a long list would not fit on one page.
    let scale = ((PAGE.0 - 2.0 * MARGIN) / WIDTH).min((PAGE.1 - 2.0 * MARGIN) / drawing.height);
    let across = |x: f64| (MARGIN + scale * x) as f32;
    let up = |y: f64| (PAGE.1 - MARGIN - scale * y) as f32;
    let long = |length: f64| (scale * length) as f32;
    let mut content = Content::new();
    for mark in &drawing.marks {
        match mark {
            Mark::Text { x, y, anchor, size, bold, colour, text } => {
                let runs = runs(text)?;
                let letters = runs.iter().flat_map(|run| &run.letters);
                let width = size * letters.map(|&letter| advance(letter)).sum::<f64>();
                let x = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                let [red, green, blue] = rgb(*colour);
                content.set_fill_rgb(red, green, blue);
                content.begin_text().next_line(across(x), up(*y));
                for run in runs {
                    let text = if *bold { BOLD } else { PLAIN };
                    content.set_font(if run.symbol { SYMBOL } else { text }, long(*size));
                    content.show(Str(&run.letters));
                }
                content.end_text();
            }
            Mark::Bar { x, y, width, height, colour } => {
                let [red, green, blue] = rgb(*colour);
                content.set_fill_rgb(red, green, blue);
                content.rect(across(*x), up(y + height), long(*width), long(*height));
                content.fill_nonzero();
            }
            Mark::Tick { x, y, side } => {
                content.set_line_width(1.0);
                content.rect(across(*x), up(y + side), long(*side), long(*side)).stroke();
            }
            Mark::Rule { from, to, y } => {
                content.set_line_width(1.0);
                content.move_to(across(*from), up(*y)).line_to(across(*to), up(*y)).stroke();
            }
        }
    }
    Ok(content.finish().to_vec())
}

fn rgb(colour: Colour) -> [f32; 3] {
    colour.map(|part| f32::from(part) / 255.0)
}

const PLAIN: Name = Name(b"Plain");
const BOLD: Name = Name(b"Bold");
const SYMBOL: Name = Name(b"Symbol");

// Signs of the font Symbol, with their codes there. Helvetica may have them too, but not every
// reader finds them: a card on which `≥` is blank would be worse than none.
const SYMBOLS: [(char, u8); 4] = [('≤', 0xa3), ('≥', 0xb3), ('≠', 0xb9), ('−', 0x2d)];

// Letters in one font.
#[derive(Debug, PartialEq)]
struct Run {
    symbol: bool,
    letters: Vec<u8>,
}

fn runs(text: &str) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for letter in text.chars() {
        let (symbol, code) = code(letter).ok_or_else(|| cannot_be_set(letter))?;
        match runs.last_mut() {
            Some(run) if run.symbol == symbol => run.letters.push(code),
            _ => runs.push(Run { symbol, letters: vec![code] }),
        }
    }
    Ok(runs)
}

// Whether the letter is one of Symbol's, and its code.
fn code(letter: char) -> Option<(bool, u8)> {
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| symbol.0 == letter) {
        return Some((true, symbol.1));
    }
    let plain = match letter {
        ' '..='~' | '\u{a0}'..='ÿ' => u8::try_from(u32::from(letter)).ok()?,
        // The Greek letter stands for the sign of micro.
        'μ' => 0xb5,
        _ => WINDOWS.iter().find(|windows| windows.1 == letter)?.0,
    };
    Some((false, plain))
}

// The letters of WinAnsiEncoding from 0x80 on that are not those of Latin-1.
const WINDOWS: [(u8, char); 18] = [
    (0x80, '€'),
    (0x85, '…'),
    (0x89, '‰'),
    (0x8a, 'Š'),
    (0x8c, 'Œ'),
    (0x8e, 'Ž'),
    (0x91, '‘'),
    (0x92, '’'),
    (0x93, '“'),
    (0x94, '”'),
    (0x95, '•'),
    (0x96, '–'),
    (0x97, '—'),
    (0x99, '™'),
    (0x9a, 'š'),
    (0x9c, 'œ'),
    (0x9e, 'ž'),
    (0x9f, 'Ÿ'),
];

fn cannot_be_set(letter: char) -> Error {
    Error::usage(format!("`{letter}` cannot be printed in the fonts that every PDF reader has"))
        .in_field("the card")
        .help("take the card as HTML and print that, or give the column a label in Latin letters")
}

// The width of a letter in Helvetica, as a share of its size. Only what is centred or set to the
// right needs it: numbers, and the action line, whose other letters come close to the mean.
fn advance(letter: u8) -> f64 {
    match letter {
        b'0'..=b'9' => 0.556,
        b' ' | b'.' | b',' => 0.278,
        b'%' => 0.889,
        _ => 0.53,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_west_are_set_and_others_named() {
        let run = |symbol, letters: &[u8]| Run { symbol, letters: letters.to_vec() };
        assert_eq!(
            runs("CRP ≥ 5 µg").unwrap(),
            [run(false, b"CRP "), run(true, b"\xb3"), run(false, b" 5 \xb5g")]
        );
        assert_eq!(runs("ÿ–€").unwrap(), [run(false, b"\xff\x96\x80")]);
        let error = runs("年齢 ≥ 65").unwrap_err();
        assert!(error.message().starts_with("`年` cannot be printed"), "{error}");
        assert_eq!(error.exit_code(), 2);
        assert!(runs("a\nb").is_err());
    }
}
