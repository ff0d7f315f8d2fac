//! From values to places on an axis, with ticks at round numbers.

/// The scale of one axis.
#[derive(Clone, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Where numbers stand, and the numbers.
    pub ticks: Vec<(f64, String)>,
}

impl Scale {
    /// A scale that covers the finite ones of `values`, about `wanted` ticks on it. A logarithmic
    /// one covers the positive values; without any of those it is linear.
    pub fn over(values: impl Iterator<Item = f64> + Clone, log: bool, wanted: usize) -> Self {
        let range = |positive: bool| {
            values.clone().filter(|value| value.is_finite() && (!positive || *value > 0.0)).fold(
                None,
                |range: Option<(f64, f64)>, value| {
                    let (low, high) = range.unwrap_or((value, value));
                    Some((low.min(value), high.max(value)))
                },
            )
        };
        if log && let Some((low, high)) = range(true) {
            return Self::logarithmic(low, high, wanted);
        }
        let (low, high) = range(false).unwrap_or((0.0, 1.0));
        Self::linear(low, high, wanted)
    }

    fn linear(mut low: f64, mut high: f64, wanted: usize) -> Self {
        if low == high {
            let pad = if low == 0.0 { 0.5 } else { 0.1 * low.abs() };
            (low, high) = (low - pad, high + pad);
        }
        let step = round_step((high - low) / wanted.max(2) as f64);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let count = (last - first).clamp(1.0, 100.0) as usize;
        let ticks: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        let most = ticks.iter().fold(0.0f64, |most, tick| most.max(tick.abs()));
        Self {
            low: first * step,
            high: (first + count as f64) * step,
            log: false,
            ticks: ticks.into_iter().map(|tick| (tick, linear_label(tick, step, most))).collect(),
        }
    }

    fn logarithmic(low: f64, high: f64, wanted: usize) -> Self {
        let decades = high.log10() - low.log10();
        // Fewer marks per decade the more decades there are.
        let marks: &[f64] = match decades {
            d if d < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            d if d < 1.6 => &[1.0, 2.0, 3.0, 5.0],
            d if d < 2.6 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let from = low.log10().floor() as i32 - 1;
        let to = high.log10().ceil() as i32 + 1;
        let all: Vec<f64> = (from..=to)
            .flat_map(|decade| marks.iter().map(move |mark| mark * 10f64.powi(decade)))
            .collect();
        let first = all.iter().rposition(|tick| *tick <= low * (1.0 + 1e-9)).unwrap_or(0);
        let last = all
            .iter()
            .position(|tick| *tick >= high * (1.0 - 1e-9) && *tick > all[first])
            .unwrap_or(all.len() - 1);
        let skip = if marks.len() == 1 { (last - first).div_ceil(wanted.max(2)).max(1) } else { 1 };
        Self {
            low: all[first],
            high: all[last],
            log: true,
            ticks: all[first..=last]
                .iter()
                .step_by(skip)
                .map(|tick| (*tick, log_label(*tick)))
                .collect(),
        }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end. None where the scale has no place
    /// for it.
    pub fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let of = |value: f64| if self.log { value.log10() } else { value };
        Some((of(value) - of(self.low)) / (of(self.high) - of(self.low)))
    }
}

fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let lead = rough / power;
    power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| lead <= step * 1.0001).unwrap_or(10.0)
}

fn linear_label(value: f64, step: f64, most: f64) -> String {
    let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
    let digits = |step: f64| (-step.log10() + 1e-9).floor().max(-1.0).max(0.0) as usize;
    let decimals = |step: f64| if step >= 1.0 { 0 } else { (-step.log10() - 1e-9).ceil() as usize };
    if most < 1e-3 && value != 0.0 {
        return log_label(value);
    }
    for (size, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if most >= 10.0 * size {
            let part = decimals(step / size).max(digits(1.0));
            return if value == 0.0 {
                "0".into()
            } else {
                format!("{:.part$}{letter}", value / size)
            };
        }
    }
    format!("{value:.*}", decimals(step)).replace('-', "−")
}

fn log_label(value: f64) -> String {
    let exponent = value.abs().log10().floor();
    let lead = value / 10f64.powf(exponent);
    if (-3.0..4.0).contains(&exponent) {
        // Enough digits for the leading one, or one and a half.
        let half = (lead * 10.0).round() % 10.0 != 0.0;
        let digits = ((-exponent).max(0.0) as usize) + usize::from(half && exponent < 1.0);
        return format!("{value:.digits$}").replace('-', "−");
    }
    let power = format!("10{}", superscript(exponent as i32));
    if (lead - 1.0).abs() < 1e-6 { power } else { format!("{lead:.0}×{power}") }
}

fn superscript(number: i32) -> String {
    number
        .to_string()
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹']
                [digit.to_digit(10).unwrap_or(0) as usize],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(values: &[f64], log: bool) -> Vec<String> {
        let scale = Scale::over(values.iter().copied(), log, 5);
        scale.ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_stand_at_round_numbers() {
        assert_eq!(labels(&[0.0, 1.0], false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[-3.0, 4.0], false), ["−4", "−2", "0", "2", "4"]);
        assert_eq!(labels(&[0.0, 40_000.0], false), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(labels(&[1.0, 1000.0], true), ["1", "10", "100", "1000"]);
        assert_eq!(labels(&[1e-6, 1e-3], true), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001"]);
        assert_eq!(labels(&[2.1, 4.8], true), ["2", "3", "4", "5"]);
        assert_eq!(labels(&[1.2, 1.9], true), ["1", "1.5", "2"]);
    }

    #[test]
    fn nothing_to_show_is_still_an_axis() {
        assert_eq!(labels(&[], false).len(), 6);
        assert_eq!(labels(&[f64::NAN], true).len(), 6);
        assert!(labels(&[3.0, 3.0], false).len() > 2);
        assert_eq!(labels(&[-1.0, 0.0], true), labels(&[-1.0, 0.0], false));
        assert!(labels(&[5.0], true).len() >= 2);
    }

    proptest! {
        #[test]
        fn every_value_has_its_place(
            values in proptest::collection::vec(-1e12f64..1e12, 1..20), wanted in 2usize..12
        ) {
            let scale = Scale::over(values.iter().copied(), false, wanted);
            for value in &values {
                let at = scale.at(*value).unwrap();
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&at), "{value} at {at}");
            }
            prop_assert!(scale.ticks.len() <= 2 * wanted + 3);
        }

        #[test]
        fn every_positive_value_has_its_place_on_a_log_scale(
            exponents in proptest::collection::vec(-12f64..12.0, 1..20), wanted in 2usize..12
        ) {
            let values: Vec<f64> = exponents.iter().map(|e| 10f64.powf(*e)).collect();
            let scale = Scale::over(values.iter().copied(), true, wanted);
            for value in &values {
                let at = scale.at(*value).unwrap();
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&at), "{value} at {at}");
            }
            prop_assert!(scale.ticks.len() >= 2);
        }
    }
}
