//! The parts of a matrix that a checkpoint stores fused.

use faer::{MatMut, MatRef};

/// A part of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

impl Block {
    pub(super) fn of(self, matrix: MatRef<'_, f32>) -> MatRef<'_, f32> {
        matrix.submatrix(self.row, self.column, self.rows, self.columns)
    }

    pub(super) fn of_mut(self, matrix: MatMut<'_, f32>) -> MatMut<'_, f32> {
        matrix.submatrix_mut(self.row, self.column, self.rows, self.columns)
    }
}

/// The parts to orthogonalize by themselves: the whole matrix, or, with `split`, the equal parts of
/// a fused query-key-value matrix (three) or gate-up matrix (two). The three lie along the side that
/// is three times as long; a matrix without one, as with grouped queries, is left whole. The two are
/// halves of the rows, `[2·f, h]`, which is how a matrix of its own is stored whatever its longer side
/// is. In a stack of experts some checkpoints keep them side by side and some interleaved: such a
/// stack is left whole.
pub(super) fn blocks(name: &str, rows: usize, columns: usize, split: bool) -> Vec<Block> {
    let parts = if split { parts(name) } else { 1 };
    let below = |height: usize| {
        (0..parts)
            .map(|part| Block { row: part * height, column: 0, rows: height, columns })
            .collect()
    };
    match parts {
        3 if rows == 3 * columns => below(columns),
        3 if columns == 3 * rows => (0..parts)
            .map(|part| Block { row: 0, column: part * rows, rows, columns: rows })
            .collect(),
        2 if rows.is_multiple_of(2) && !name.contains("experts") => below(rows / 2),
        _ => vec![Block { row: 0, column: 0, rows, columns }],
    }
}

fn parts(name: &str) -> usize {
    let is = |part: &str| match part {
        "c_attn" | "qkv" | "qkv_proj" | "query_key_value" | "Wqkv" | "in_proj_weight" => 3,
        "gate_up_proj" => 2,
        _ => 1,
    };
    name.split('.').map(is).max().unwrap_or(1)
}
