//! The memory allocator of programs that train.
//!
//! A training step gives back hundreds of megabytes and takes as many again. The system's allocator
//! returns large pieces to the kernel in between, which hands them out anew page by page, each cleared:
//! a tenth of the whole time. This one keeps them. Linking it is a program's choice:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: metier_nn::allocator::Allocator = metier_nn::allocator::Allocator;
//!
//! fn main() {
//!     metier_nn::allocator::keep_freed_memory();
//! }
//! ```

#![allow(unsafe_code)]

pub use mimalloc::MiMalloc as Allocator;

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// The option's number, which the bindings do not name. A test holds it against the allocator's own
/// default.
const PURGE_DELAY: mi_option_t = 15;

/// Keeps freed memory for the program's own use until it ends, as the caches of other training programs
/// do. To be called at the start of a program that links [`Allocator`], before it makes threads.
pub fn keep_freed_memory() {
    // Milliseconds until the kernel gets freed memory back; a delay that is shorter than a step is of no
    // use, and steps take seconds.
    const NEVER: std::ffi::c_long = -1;
    // SAFETY: sets a number inside the allocator. The call must not race with another of its kind, and
    // this is the only one.
    unsafe { mi_option_set(PURGE_DELAY, NEVER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_delay() {
        // SAFETY: reads a number inside the allocator; no other thread touches its options.
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(delay(), 1000);
        keep_freed_memory();
        assert_eq!(delay(), -1);
    }
}
