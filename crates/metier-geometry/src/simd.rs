//! Loops that are compiled twice: for the widest vectors of the processor, and plain.

use pulp::Arch;

/// `a b + c`, in one rounding where `FMA` says that the processor has the instruction.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    // Without the instruction a fused step is a slow library call.
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Runs the closure that fits the processor: compiled for its widest vectors with fused steps, or
/// plain.
#[inline(always)]
pub(crate) fn dispatch<R>(fused: impl FnOnce() -> R, plain: impl FnOnce() -> R) -> R {
    match Arch::new() {
        Arch::Scalar => plain(),
        arch => arch.dispatch(fused),
    }
}
