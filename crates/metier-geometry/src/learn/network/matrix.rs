//! Rows of values, and the products that training consists of.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Rows of `columns` values each, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) columns: usize,
    pub(super) values: Vec<f32>,
}

impl Matrix {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self { columns, values: vec![0.0; rows * columns] }
    }

    pub(super) fn row_count(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.columns.max(1))
    }

    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.values.chunks_exact_mut(self.columns.max(1))
    }

    /// The chosen rows.
    pub(super) fn picked(&self, chosen: &[usize]) -> Self {
        let mut values = Vec::with_capacity(chosen.len() * self.columns);
        for row in chosen {
            values.extend_from_slice(&self.values[row * self.columns..(row + 1) * self.columns]);
        }
        Self { columns: self.columns, values }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.values.iter_mut().zip(&other.values).for_each(|(a, b)| *a += b);
    }

    pub(super) fn first_columns(&self, width: usize) -> Self {
        let values = self.rows().flat_map(|row| row[..width].iter().copied()).collect();
        Self { columns: width, values }
    }

    pub(super) fn last_columns(&self, width: usize) -> Self {
        let from = self.columns - width;
        let values = self.rows().flat_map(|row| row[from..].iter().copied()).collect();
        Self { columns: width, values }
    }

    pub(super) fn add_to_last_columns(&mut self, other: &Self) {
        let from = self.columns - other.columns;
        for (row, other) in self.rows_mut().zip(other.rows()) {
            row[from..].iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }

    /// These columns, then those of the other.
    pub(super) fn beside(&self, other: &Self) -> Self {
        let rows = self.rows().zip(other.rows());
        let values = rows.flat_map(|(a, b)| a.iter().chain(b).copied()).collect();
        Self { columns: self.columns + other.columns, values }
    }

    pub(super) fn view(&self) -> MatRef<'_, f32> {
        view(&self.values, self.columns)
    }

    /// The product of two matrices. On this thread: whoever trains several networks gives each one
    /// of its own, and a small product is done before another thread is awake.
    pub(super) fn product(a: MatRef<f32>, b: MatRef<f32>) -> Self {
        let mut out = Self::zeros(a.nrows(), b.ncols());
        let columns = out.columns;
        matmul(view_mut(&mut out.values, columns), Accum::Replace, a, b, 1.0, Par::Seq);
        out
    }
}

/// Adds the product of two matrices to `sums`.
pub(super) fn add_product(sums: &mut [f32], a: MatRef<f32>, b: MatRef<f32>) {
    matmul(view_mut(sums, b.ncols()), Accum::Add, a, b, 1.0, Par::Seq);
}

/// A slice as rows of `columns` values each.
pub(super) fn view(values: &[f32], columns: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / columns.max(1), columns)
}

fn view_mut(values: &mut [f32], columns: usize) -> MatMut<'_, f32> {
    let rows = values.len() / columns.max(1);
    MatMut::from_row_major_slice_mut(values, rows, columns)
}
