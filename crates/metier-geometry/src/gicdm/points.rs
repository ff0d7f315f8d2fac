//! Rows of numbers that distances are taken between, block by block: never a matrix of all pairs.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, MatRef, Par};
use metier_core::{Error, Result};
use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

// Rows of the first operand that one product is made of.
const BLOCK: usize = 128;

// Below this share of both squared lengths a squared distance by the product has lost its digits.
const NEAR: f64 = 1e-5;

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The length of their difference.
    #[default]
    Euclidean,
    /// The same of the rows brought to length 1: it orders pairs as the angle between them does.
    Cosine,
}

/// A number of rows: `f32`, which takes half the memory, or `f64`.
pub trait Number: ComplexField + Copy + Into<f64> + 'static {
    /// The nearest of these numbers.
    fn nearest(value: f64) -> Self;
}

impl Number for f32 {
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Number for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

/// Rows that were looked over: every number is finite, and those of cosine distances have length 1.
#[derive(Clone, Debug)]
pub struct Points<T> {
    values: Vec<T>,
    rows: usize,
    columns: usize,
    squares: Vec<f64>,
    metric: Metric,
}

impl<T: Number> Points<T> {
    /// Takes in rows.
    ///
    /// # Errors
    /// No rows or columns; a number that is not finite, with its row and column counted from 1 and how
    /// many there are; a row of zeros, which has no angle.
    pub fn new(rows: ArrayView2<'_, T>, metric: Metric) -> Result<Self> {
        let (count, columns) = rows.dim();
        if rows.is_empty() {
            return Err(Error::input(format!("{count} rows of {columns} columns are no points")));
        }
        let mut bad = rows.indexed_iter().filter(|(_, value)| !(**value).into().is_finite());
        if let Some(((row, column), value)) = bad.next() {
            let more = bad.count();
            let value: f64 = (*value).into();
            let others = if more > 0 { format!(", as are {more} more") } else { String::new() };
            return Err(Error::input(format!("the number is {value}{others}"))
                .at_row(row as u64 + 1)
                .in_field(format!("column {}", column + 1)));
        }
        let mut values: Vec<T> = rows.iter().copied().collect();
        if metric == Metric::Cosine {
            for (row, values) in values.chunks_exact_mut(columns).enumerate() {
                let length = square(values).sqrt();
                if length == 0.0 {
                    return Err(Error::input("a row of zeros has no angle to any other")
                        .at_row(row as u64 + 1)
                        .help("leave such rows out, or take Euclidean distances"));
                }
                for value in values {
                    let scaled: f64 = (*value).into() / length;
                    *value = T::nearest(scaled);
                }
            }
        }
        let squares = values.chunks_exact(columns).map(square).collect();
        Ok(Self { values, rows: count, columns, squares, metric })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns each has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// What `f` makes of each row and its distances to all rows of `other`, in parallel and in order.
    /// A pair of one row with itself has distance 0.
    ///
    /// `2 rows · other.rows · columns` operations, nearly all of them in products; `128 · other.rows`
    /// numbers per thread.
    ///
    /// # Errors
    /// Another number of columns, or another metric.
    pub fn map_distances<R: Send>(
        &self,
        other: &Self,
        f: impl Fn(usize, &[f64]) -> R + Sync,
    ) -> Result<Vec<R>> {
        if self.columns != other.columns {
            let (ours, theirs) = (self.columns, other.columns);
            return Err(Error::input(format!("rows of {ours} columns meet rows of {theirs}")));
        }
        if self.metric != other.metric {
            return Err(Error::usage("the two sets of rows have different metrics"));
        }
        let blocks: Vec<Vec<R>> = (0..self.rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| self.block(block * BLOCK, other, &f))
            .collect();
        Ok(blocks.into_iter().flatten().collect())
    }

    fn block<R>(&self, first: usize, other: &Self, f: &impl Fn(usize, &[f64]) -> R) -> Vec<R> {
        let last = (first + BLOCK).min(self.rows);
        let ours = &self.values[first * self.columns..last * self.columns];
        let ours = MatRef::from_row_major_slice(ours, last - first, self.columns);
        let theirs = MatRef::from_row_major_slice(&other.values, other.rows, self.columns);
        // One column per row of ours, so that what is read below lies together.
        let mut products = Mat::<T>::zeros(other.rows, last - first);
        let one = T::nearest(1.0);
        matmul(&mut products, Accum::Replace, theirs, ours.transpose(), one, Par::Seq);
        let mut distances = vec![0.0; other.rows];
        (first..last)
            .map(|i| {
                let own = self.squares[i];
                let products = products.col(i - first).iter();
                let pairs = distances.iter_mut().zip(products).zip(&other.squares);
                for ((distance, product), square) in pairs {
                    let product: f64 = (*product).into();
                    *distance = own + square - 2.0 * product;
                }
                for (j, distance) in distances.iter_mut().enumerate() {
                    // Also where a single-precision product left the range of its numbers.
                    let sound =
                        *distance >= NEAR * (own + other.squares[j]) && distance.is_finite();
                    if !sound {
                        *distance = self.squared_distance(i, other, j);
                    }
                    *distance = distance.sqrt();
                }
                f(i, &distances)
            })
            .collect()
    }

    fn squared_distance(&self, i: usize, other: &Self, j: usize) -> f64 {
        let pairs = self.row(i).iter().zip(other.row(j));
        pairs
            .map(|(a, b)| {
                let (a, b): (f64, f64) = ((*a).into(), (*b).into());
                (a - b) * (a - b)
            })
            .sum()
    }
}

fn square<T: Number>(values: &[T]) -> f64 {
    values
        .iter()
        .map(|value| {
            let value: f64 = (*value).into();
            value * value
        })
        .sum()
}
