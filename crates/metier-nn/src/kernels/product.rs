//! The plain matrix product of the `gemm` crate, for products in which it takes about four fifths of
//! faer's time: where the rows of both operands are summed over, as in the gradient of a weight. Its
//! interface is raw pointers, and this file is the one place that hands it any.

#![allow(unsafe_code)]

use faer::{MatMut, MatRef};
use gemm::{Parallelism, gemm};

/// `out ← l·r` on this thread, whatever the strides; what `out` held is not read.
///
/// # Panics
/// When the shapes do not fit.
///
/// ```
/// use faer::mat;
/// use metier_nn::kernels::product;
/// let mut out = mat![[f32::NAN], [0.0]];
/// product(out.as_mut(), mat![[1.0f32, 2.0], [3.0, 4.0]].as_ref(), mat![[1.0f32], [1.0]].as_ref());
/// assert_eq!(out, mat![[3.0f32], [7.0]]);
/// ```
pub fn product(out: MatMut<'_, f32>, l: MatRef<'_, f32>, r: MatRef<'_, f32>) {
    assert_eq!((out.nrows(), out.ncols()), (l.nrows(), r.ncols()), "shapes differ");
    assert_eq!(l.ncols(), r.nrows(), "shapes differ");
    // SAFETY: the pointers, sizes and strides are those of views, so that every element they lead to
    // may be read, and in `out` written; `out` is borrowed mutably and overlaps neither operand; the
    // shapes were compared above.
    unsafe {
        gemm(
            out.nrows(),
            out.ncols(),
            l.ncols(),
            out.as_ptr_mut(),
            out.col_stride(),
            out.row_stride(),
            false,
            l.as_ptr(),
            l.col_stride(),
            l.row_stride(),
            r.as_ptr(),
            r.col_stride(),
            r.row_stride(),
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Mat, mat};

    #[test]
    fn any_strides_are_fine() {
        let (l, r) = (mat![[1.0f32, 2.0], [3.0, 4.0]], mat![[1.0f32, 0.0, 2.0], [0.0, 1.0, 3.0]]);
        let expected = mat![[1.0f32, 2.0, 8.0], [3.0, 4.0, 18.0]];
        let mut out = Mat::<f32>::from_fn(3, 4, |_, _| 9.0);
        // A part of a larger matrix, whose rest must stay.
        product(out.as_mut().submatrix_mut(1, 1, 2, 3), l.as_ref(), r.as_ref());
        assert_eq!(out.as_ref().submatrix(1, 1, 2, 3), expected);
        assert!((0..4).all(|j| out[(0, j)] == 9.0) && (0..3).all(|i| out[(i, 0)] == 9.0));
        let mut turned = Mat::<f32>::zeros(3, 2);
        product(turned.as_mut().transpose_mut(), l.as_ref(), r.as_ref());
        assert_eq!(turned.transpose(), expected);
        // Numbers that were there before are not read, even where they are no numbers.
        let mut broken = Mat::<f32>::from_fn(2, 3, |_, _| f32::NAN);
        product(broken.as_mut(), l.as_ref(), r.as_ref());
        assert_eq!(broken, expected);
    }
}
