//! Nearest neighbours on the sphere, by a k-d tree over unit vectors.

use crate::sphere::unit;
use rayon::prelude::*;

/// A search tree over places. The straight distance orders pairs as the great circle does.
#[derive(Clone, Debug)]
pub struct Neighbors {
    // In the order of the tree: the middle of each range splits it.
    points: Vec<([f64; 3], usize)>,
    axes: Vec<u8>,
}

impl Neighbors {
    /// The tree of these places, in degrees.
    pub fn new(lon: &[f64], lat: &[f64]) -> Self {
        let mut points: Vec<_> =
            lon.iter().zip(lat).map(|(lon, lat)| unit(*lon, *lat)).zip(0..).collect();
        let mut axes = vec![0; points.len()];
        arrange(&mut points, &mut axes);
        Self { points, axes }
    }

    /// The indices of the `k` nearest places, nearest first; equal distances by index.
    pub fn nearest(&self, lon: f64, lat: f64, k: usize) -> Vec<usize> {
        let mut best = Vec::with_capacity(k + 1);
        if k > 0 {
            self.search(unit(lon, lat), k, 0, self.points.len(), &mut best);
        }
        best.into_iter().map(|(_, index)| index).collect()
    }

    /// The mean of the targets of the `k` nearest places, for each place asked; not a number where
    /// there are none.
    ///
    /// # Panics
    /// Another number of targets than there are places in the tree.
    pub fn mean(&self, targets: &[f64], lon: &[f64], lat: &[f64], k: usize) -> Vec<f64> {
        assert_eq!(targets.len(), self.points.len(), "every place in the tree has one target");
        let mean = |lon: f64, lat: f64| {
            let near = self.nearest(lon, lat, k);
            near.iter().map(|index| targets[*index]).sum::<f64>() / near.len() as f64
        };
        lon.par_iter().zip(lat).map(|(lon, lat)| mean(*lon, *lat)).collect()
    }

    /// The label of the nearest place, for each place asked; 0 where there is none.
    ///
    /// # Panics
    /// Another number of labels than there are places in the tree.
    pub fn label(&self, labels: &[usize], lon: &[f64], lat: &[f64]) -> Vec<usize> {
        assert_eq!(labels.len(), self.points.len(), "every place in the tree has one label");
        let label = |lon: f64, lat: f64| {
            self.nearest(lon, lat, 1).first().map_or(0, |index| labels[*index])
        };
        lon.par_iter().zip(lat).map(|(lon, lat)| label(*lon, *lat)).collect()
    }

    fn search(&self, at: [f64; 3], k: usize, from: usize, to: usize, best: &mut Vec<(f64, usize)>) {
        if from >= to {
            return;
        }
        let middle = from + (to - from) / 2;
        let (point, index) = self.points[middle];
        let distance: f64 = (0..3).map(|i| (point[i] - at[i]).powi(2)).sum();
        let place = best.partition_point(|entry| *entry < (distance, index));
        if place < k {
            best.insert(place, (distance, index));
            best.truncate(k);
        }
        let axis = usize::from(self.axes[middle]);
        let side = at[axis] - point[axis];
        let (near, far) = if side < 0.0 {
            ((from, middle), (middle + 1, to))
        } else {
            ((middle + 1, to), (from, middle))
        };
        self.search(at, k, near.0, near.1, best);
        let reach = if best.len() < k { f64::INFINITY } else { best[best.len() - 1].0 };
        if side * side <= reach {
            self.search(at, k, far.0, far.1, best);
        }
    }
}

fn arrange(points: &mut [([f64; 3], usize)], axes: &mut [u8]) {
    if points.len() < 2 {
        return;
    }
    let spread = |axis: usize| {
        let (low, high) = points
            .iter()
            .fold((2.0f64, -2.0f64), |(low, high), (p, _)| (low.min(p[axis]), high.max(p[axis])));
        high - low
    };
    let axis = (1..3).fold(0, |best, axis| if spread(axis) > spread(best) { axis } else { best });
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
    axes[middle] = axis as u8;
    let (left, right) = points.split_at_mut(middle);
    let (left_axes, right_axes) = axes.split_at_mut(middle);
    arrange(left, left_axes);
    arrange(&mut right[1..], &mut right_axes[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::rng;
    use rand::RngExt;

    #[test]
    fn the_tree_finds_what_a_full_search_finds() {
        let mut rng = rng::stream(1, "places");
        let lon: Vec<f64> = (0..400).map(|_| rng.random_range(-180.0..180.0)).collect();
        let lat: Vec<f64> = (0..400).map(|_| rng.random_range(-90.0..90.0)).collect();
        let tree = Neighbors::new(&lon, &lat);
        for _ in 0..50 {
            let (x, y) = (rng.random_range(-180.0..180.0), rng.random_range(-90.0..90.0));
            let at = unit(x, y);
            let mut all: Vec<(f64, usize)> = (0..400)
                .map(|i| {
                    let p = unit(lon[i], lat[i]);
                    ((0..3).map(|j| (p[j] - at[j]).powi(2)).sum(), i)
                })
                .collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let right: Vec<usize> = all[..7].iter().map(|entry| entry.1).collect();
            assert_eq!(tree.nearest(x, y, 7), right);
        }
    }

    #[test]
    fn neighbours_lie_across_the_date_line() {
        let tree = Neighbors::new(&[-179.9, 170.0], &[0.0, 0.0]);
        assert_eq!(tree.nearest(179.9, 0.0, 1), [0]);
        assert_eq!(tree.mean(&[3.0, 5.0], &[179.9], &[0.0], 9), [4.0]);
    }

    #[test]
    #[should_panic(expected = "every place in the tree has one label")]
    fn every_place_needs_a_label() {
        Neighbors::new(&[0.0, 1.0], &[0.0, 0.0]).label(&[3], &[0.0], &[0.0]);
    }
}
