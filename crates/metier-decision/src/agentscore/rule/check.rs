//! What a rule has to be, by itself and beside a table.

use super::Rule;
use metier_core::{Error, Result};
use metier_data::Frame;

impl Rule {
    /// Checks that the rule makes sense by itself: finite cut-points, bounds in order, something to
    /// choose from, logic no deeper than `depth`.
    ///
    /// ```
    /// use metier_decision::agentscore::Rule;
    /// let rule = Rule::parse(r#"{"type":"numeric_range","feature":"age","low":65,"high":40}"#)?;
    /// assert_eq!(rule.well_formed(1).unwrap_err().message(), "low is above high");
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// An input error that says what is wrong, and in which rule.
    pub fn well_formed(&self, depth: u8) -> Result<()> {
        let wrong = |message: String| Err(Error::input(message).in_field(self.to_string()));
        let finite = |name: &str, value: f64| {
            if value.is_finite() { Ok(()) } else { wrong(format!("{name} is not a finite number")) }
        };
        if self.depth() > depth {
            return wrong(format!("logic of depth {}, where {depth} is allowed", self.depth()));
        }
        match self {
            Rule::Threshold { threshold, .. } | Rule::Derived { threshold, .. } => {
                finite("the threshold", *threshold)
            }
            Rule::Range { low, high, .. } => {
                finite("low", *low)?;
                finite("high", *high)?;
                if low > high { wrong("low is above high".into()) } else { Ok(()) }
            }
            Rule::In { values, .. } if values.is_empty() => wrong("no categories".into()),
            Rule::In { .. } | Rule::True { .. } => Ok(()),
            Rule::Count { features, min_count } => {
                if *min_count == 0 || *min_count > features.len() {
                    return wrong(format!("min_count is not between 1 and {}", features.len()));
                }
                Ok(())
            }
            Rule::Logic { rules, .. } => {
                if rules.len() < 2 {
                    return wrong("a logical rule joins at least two".into());
                }
                // Deeper than allowed was refused above.
                rules.iter().try_for_each(|rule| rule.well_formed(depth.saturating_sub(1)))
            }
            Rule::PctChange { pct, .. } => finite("pct", *pct),
            Rule::Z { z, .. } => finite("z", *z),
            Rule::Quantile { q, .. } => {
                if *q > 0.0 && *q < 1.0 {
                    Ok(())
                } else {
                    wrong("q is not between 0 and 1".into())
                }
            }
        }
    }

    /// Checks that the rule makes sense and that the table has its columns, of the right kind.
    ///
    /// # Errors
    /// An input error that says what is wrong; for an unknown column it names the nearest ones.
    pub fn check(&self, frame: &Frame, depth: u8) -> Result<()> {
        self.well_formed(depth)?;
        self.fits(frame)
    }

    fn fits(&self, frame: &Frame) -> Result<()> {
        let number = |feature: &str| frame.numbers(feature).map(drop);
        let any = |feature: &str| frame.column(feature).map(drop);
        match self {
            Rule::Threshold { feature, .. }
            | Rule::Range { feature, .. }
            | Rule::Z { feature, .. }
            | Rule::Quantile { feature, .. } => number(feature),
            Rule::In { feature, .. } | Rule::True { feature } => any(feature),
            Rule::Derived { expr, .. } => {
                number(&expr.a)?;
                number(&expr.b)
            }
            Rule::Count { features, .. } => features.iter().try_for_each(|feature| any(feature)),
            Rule::Logic { rules, .. } => rules.iter().try_for_each(|rule| rule.fits(frame)),
            Rule::PctChange { feature_t0, feature_t1, .. } => {
                number(feature_t0)?;
                number(feature_t1)
            }
        }
    }
}
