//! A hash that is fixed for all time, which the standard library's hashers are not.

/// Where [`fnv1a`] usually begins.
pub const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// The FNV-1a hash of `bytes`, begun at `start`: [`OFFSET`], or another number for a second hash of
/// the same bytes.
///
/// ```
/// use metier_core::hash::{OFFSET, fnv1a};
/// assert_eq!(fnv1a(OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
/// ```
pub fn fnv1a(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
