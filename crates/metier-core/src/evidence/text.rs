//! Outcomes in words, for the terminal.

use super::{Bar, Claim, Outcome, Samples};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The outcome of one method: a heading, then one line per claim with what was measured, the
/// baseline, the bar, the verdict and the seconds that the method took.
pub fn outcome(outcome: &Outcome) -> String {
    let card = outcome.card;
    let heading = format!(
        "{}: {} ({}, seed {}, {:.1} s)",
        card.id, card.name, outcome.scale, outcome.seed, outcome.seconds
    );
    let finding = match &outcome.result {
        Ok(finding) => finding,
        Err(error) => return format!("{heading}\n  failed: {error}\n"),
    };
    let mut table = Table::new();
    // One line per claim, however wide the terminal: lines are grepped and compared.
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["claim", "metric", "ours", "baseline", "bar", "verdict", "seconds"]);
    for claim in &finding.claims {
        table.add_row([
            claim.id.clone(),
            claim.metric.clone(),
            summary(&claim.ours, claim.bar),
            summary(&claim.baseline, claim.bar),
            claim.rule(),
            verdict(claim).to_owned(),
            format!("{:.1}", outcome.seconds),
        ]);
    }
    if let Some(seconds) = table.column_mut(6) {
        seconds.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = heading + "\n";
    for line in table.lines() {
        text += &format!(" {}\n", line.trim_end());
    }
    text
}

/// The verdict on a claim in words.
pub fn verdict(claim: &Claim) -> &'static str {
    match (claim.holds(), claim.gate) {
        (true, _) => "holds",
        (false, true) => "FALLS SHORT",
        (false, false) => "falls short (not a gate)",
    }
}

/// Samples in a few words: one number, the steps of a sequence, or mean and spread over seeds.
pub fn summary(samples: &Samples, bar: Bar) -> String {
    match samples.as_ref() {
        [] => "–".into(),
        [one] => number(*one),
        steps if bar == Bar::Rises => {
            steps.iter().map(|step| number(*step)).collect::<Vec<_>>().join(" → ")
        }
        _ => format!("{} ± {}", number(samples.mean()), number_to(samples.deviation(), 2)),
    }
}

/// A number to four significant digits.
pub fn number(value: f64) -> String {
    number_to(value, 4)
}

/// A number to this many significant digits.
pub fn number_to(value: f64, significant: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "not a number".into() } else { format!("{value}") };
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&magnitude) {
        let text = format!("{value:.*e}", (significant - 1).max(0) as usize);
        return match text.split_once('e') {
            Some((lead, exponent)) => format!("{}e{exponent}", without_zeros(lead)),
            None => text,
        };
    }
    let digits = (significant - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.digits$}");
    without_zeros(&text).into()
}

// 12.50 says no more than 12.5, and a count is a count.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_to_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.123456, "0.1235"),
            (12.5, "12.5"),
            (-3.0, "-3"),
            (1234.56, "1235"),
            (250_000.0, "250000"),
            (1.5e9, "1.5e9"),
            (3.1e-12, "3.1e-12"),
            (f64::NAN, "not a number"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn samples_in_a_few_words() {
        let mean = Bar::MeanAtLeast(0.0);
        assert_eq!(summary(&Samples::none(), mean), "–");
        assert_eq!(summary(&Samples::from([0.25]), mean), "0.25");
        assert_eq!(summary(&Samples::from([1.0, 2.0, 3.0]), mean), "2 ± 1");
        assert_eq!(summary(&Samples::from([1.0, 2.0]), Bar::Rises), "1 → 2");
    }
}
