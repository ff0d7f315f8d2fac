//! A classification tree of limited depth (CART, Gini impurity).

use crate::design::Matrix;
use rayon::prelude::*;

/// A binary tree whose leaves hold the share of cases.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The end of a path.
    Leaf(f64),
    /// A question.
    Split {
        /// The column.
        column: usize,
        /// Rows with at most this go left.
        threshold: f64,
        /// The tree for them.
        left: Box<Tree>,
        /// The tree for the others.
        right: Box<Tree>,
    },
}

impl Tree {
    /// Grows a tree; leaves hold at least `least` rows.
    ///
    /// ```
    /// use metier_decision::{cart::Tree, design::Matrix};
    /// let x = Matrix { names: vec!["x".into()], columns: vec![vec![1.0, 2.0, 3.0, 4.0]] };
    /// let tree = Tree::grow(&x, &[0, 0, 1, 1], 4, 1);
    /// assert_eq!(tree.predict(&x), [0.0, 0.0, 1.0, 1.0]);
    /// ```
    pub fn grow(matrix: &Matrix, y: &[u8], depth: usize, least: usize) -> Self {
        let rows: Vec<usize> = (0..y.len()).collect();
        grow(matrix, y, &rows, depth, least.max(1))
    }

    /// The share of cases in the leaf of each row.
    ///
    /// # Panics
    /// When the matrix has fewer columns than the one that the tree was grown on.
    pub fn predict(&self, matrix: &Matrix) -> Vec<f64> {
        (0..matrix.rows())
            .map(|row| {
                let mut node = self;
                loop {
                    match node {
                        Tree::Leaf(share) => return *share,
                        Tree::Split { column, threshold, left, right } => {
                            let goes_left = matrix.columns[*column][row] <= *threshold;
                            node = if goes_left { left } else { right };
                        }
                    }
                }
            })
            .collect()
    }
}

fn grow(matrix: &Matrix, y: &[u8], rows: &[usize], depth: usize, least: usize) -> Tree {
    let cases = rows.iter().filter(|&&row| y[row] == 1).count();
    let leaf = Tree::Leaf(cases as f64 / rows.len().max(1) as f64);
    if depth == 0 || cases == 0 || cases == rows.len() {
        return leaf;
    }
    // The first of the best columns, whatever the number of threads.
    let best = (0..matrix.columns.len())
        .into_par_iter()
        .filter_map(|column| Some((column, split(&matrix.columns[column], y, rows, least)?)))
        .reduce_with(|a, b| {
            let better = b.1.0 < a.1.0 || (b.1.0 == a.1.0 && b.0 < a.0);
            if better { b } else { a }
        });
    let Some((column, (_, threshold))) = best else { return leaf };
    let (left, right): (Vec<usize>, Vec<usize>) =
        rows.iter().partition(|&&row| matrix.columns[column][row] <= threshold);
    Tree::Split {
        column,
        threshold,
        left: Box::new(grow(matrix, y, &left, depth - 1, least)),
        right: Box::new(grow(matrix, y, &right, depth - 1, least)),
    }
}

// The cut of least weighted Gini impurity.
fn split(values: &[f64], y: &[u8], rows: &[usize], least: usize) -> Option<(f64, f64)> {
    let mut sorted: Vec<(f64, u8)> = rows.iter().map(|&row| (values[row], y[row])).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = sorted.len();
    let all = sorted.iter().filter(|entry| entry.1 == 1).count();
    let impurity = |cases: usize, count: usize| {
        let share = cases as f64 / count as f64;
        count as f64 * share * (1.0 - share)
    };
    let mut best: Option<(f64, f64)> = None;
    let mut cases = 0;
    for place in 1..n {
        cases += usize::from(sorted[place - 1].1 == 1);
        let (low, high) = (sorted[place - 1].0, sorted[place].0);
        if low == high || place < least || n - place < least {
            continue;
        }
        let cost = impurity(cases, place) + impurity(all - cases, n - place);
        if best.is_none_or(|best| cost < best.0) {
            best = Some((cost, 0.5 * (low + high)));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_or_needs_two_questions() {
        let matrix = Matrix {
            names: vec!["a".into(), "b".into()],
            columns: vec![
                (0..8).map(|i| f64::from(i & 1)).collect(),
                (0..8).map(|i| f64::from(i >> 1 & 1)).collect(),
            ],
        };
        // One more of one kind, so that the first question gains something.
        let y = [0, 1, 1, 0, 0, 1, 1, 1];
        let shallow = Tree::grow(&matrix, &y, 1, 1).predict(&matrix);
        assert!(shallow.iter().all(|&share| share > 0.0 && share <= 1.0));
        let deep = Tree::grow(&matrix, &y, 2, 1).predict(&matrix);
        assert_eq!(deep, [0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.5]);
    }

    #[test]
    fn leaves_keep_their_size() {
        let matrix =
            Matrix { names: vec!["x".into()], columns: vec![(0..10).map(f64::from).collect()] };
        let y = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let Tree::Split { threshold, .. } = Tree::grow(&matrix, &y, 1, 3) else { panic!() };
        assert_eq!(threshold, 2.5);
    }
}
