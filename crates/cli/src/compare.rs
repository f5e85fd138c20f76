//! How bytes are compared where nobody else does it well: in WebAssembly, where names are a twentieth
//! of the time of a check.

/// Compares as C's `memcmp`, eight bytes at a time. It must not use `==` or `cmp` of slices, which
/// would call it.
pub fn bytes(one: &[u8], other: &[u8]) -> i32 {
    let ((ones, one_rest), (others, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    for (a, b) in ones.iter().zip(others) {
        let (a, b) = (u64::from_be_bytes(*a), u64::from_be_bytes(*b));
        if a != b {
            return if a < b { -1 } else { 1 };
        }
    }
    for (a, b) in one_rest.iter().zip(other_rest) {
        if a != b {
            return i32::from(*a) - i32::from(*b);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn it_is_the_order_of_slices() {
        let texts = [
            "",
            "a",
            "b",
            "aaaaaaa",
            "aaaaaaaa",
            "aaaaaaab",
            "aaaaaaaaa",
            "aaaaaaaab",
            "baaaaaaa",
            "\u{ff}aaaaaaaaaaaaaaaa",
        ];
        for one in texts {
            for other in texts {
                let count = one.len().min(other.len());
                let (one, other) = (&one.as_bytes()[..count], &other.as_bytes()[..count]);
                assert_eq!(bytes(one, other).cmp(&0), one.cmp(other), "{one:?} {other:?}");
            }
        }
    }
}
