//! Dates and times as ISO 8601 text, in the proleptic Gregorian calendar.

/// The date that lies `days` after 1970-01-01.
pub(super) fn date(days: i64) -> String {
    // Years counted from March, so that the leap day ends them; 400 of them have 146,097 days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The moment `nanoseconds` after the start of 1970.
pub(super) fn instant(nanoseconds: i64) -> String {
    instant_in(nanoseconds, 1_000_000_000)
}

/// The moment `value` units after the start of 1970, where `units` make a second. Fractions are
/// given as far as they are not zero.
pub(super) fn instant_in(value: i64, units: i64) -> String {
    let seconds = value.div_euclid(units);
    let fraction = value.rem_euclid(units);
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let mut text =
        format!("{}T{hour:02}:{minute:02}:{second:02}", date(seconds.div_euclid(86_400)));
    if fraction != 0 {
        let width = units.ilog10() as usize;
        let digits = format!("{fraction:0width$}");
        text += ".";
        text += digits.trim_end_matches('0');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_the_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (-719_468, "0000-03-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn moments_before_and_after_1970() {
        assert_eq!(instant(0), "1970-01-01T00:00:00");
        assert_eq!(instant_in(-1, 1_000), "1969-12-31T23:59:59.999");
        assert_eq!(instant_in(1_700_000_000_250_000, 1_000_000), "2023-11-14T22:13:20.25");
    }
}
