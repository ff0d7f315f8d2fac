//! Near misses: which of the known names somebody meant.

/// The candidates nearest to `name`, best first: at most three, none that differs in more than a
/// third of its letters. Case does not count.
///
/// ```
/// let near = metier_data::names::nearest("latitud", ["longitude", "latitude", "price"]);
/// assert_eq!(near, ["latitude"]);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let longest = wanted.chars().count().max(other.chars().count());
            let distance = edits(&wanted, &other);
            let part = wanted.len() >= 3 && (other.contains(&wanted) || wanted.contains(&other));
            (distance * 3 <= longest || (part && !other.is_empty()))
                .then_some((distance, candidate))
        })
        .collect();
    scored.sort_by_key(|(distance, _)| *distance);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// A help sentence for an unknown name: the nearest candidates, then the list of all, shortened.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>, all: &str) -> String {
    const SHOWN: usize = 20;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = nearest(name, candidates.iter().copied());
    let mut text = String::new();
    if !near.is_empty() {
        let quoted: Vec<String> = near.iter().map(|candidate| format!("`{candidate}`")).collect();
        text = format!("did you mean {}? ", quoted.join(" or "));
    }
    text += &format!("{all}: {}", candidates[..candidates.len().min(SHOWN)].join(", "));
    if candidates.len() > SHOWN {
        text += &format!(" and {} more", candidates.len() - SHOWN);
    }
    text
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("lable", "label", 1)]
        {
            assert_eq!(edits(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let many: Vec<String> = (0..30).map(|i| format!("feature{i}")).collect();
        let text = suggest("zzz", many.iter().map(String::as_str), "the columns are");
        assert!(text.starts_with("the columns are: feature0, "), "{text}");
        assert!(text.ends_with("feature19 and 10 more"), "{text}");
    }
}
