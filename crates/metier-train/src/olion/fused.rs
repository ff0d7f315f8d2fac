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
/// a fused query-key-value matrix (three) or gate-up matrix (two). They lie side by side along the
/// longer side. A fused matrix whose long side is no such multiple, as with grouped queries, whose
/// parts its shape alone does not tell, is left whole.
pub(super) fn blocks(name: &str, rows: usize, columns: usize, split: bool) -> Vec<Block> {
    let parts = if split { parts(name) } else { 1 };
    let (long, short) = (rows.max(columns), rows.min(columns));
    let fits = match parts {
        3 => long == 3 * short,
        2 => long.is_multiple_of(2),
        _ => false,
    };
    if !fits {
        return vec![Block { row: 0, column: 0, rows, columns }];
    }
    let width = long / parts;
    (0..parts)
        .map(|part| {
            if rows >= columns {
                Block { row: part * width, column: 0, rows: width, columns }
            } else {
                Block { row: 0, column: part * width, rows, columns: width }
            }
        })
        .collect()
}

fn parts(name: &str) -> usize {
    let is = |part: &str| match part {
        "c_attn" | "qkv" | "qkv_proj" | "query_key_value" | "Wqkv" | "in_proj_weight" => 3,
        "gate_up_proj" => 2,
        _ => 1,
    };
    name.split('.').map(is).max().unwrap_or(1)
}
