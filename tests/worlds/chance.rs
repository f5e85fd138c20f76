//! The random numbers of the generator: it has its own, because the recorded worlds are known by
//! their seeds.

/// SplitMix64 (Steele, Lea and Flood), preceded by given bytes.
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
    /// Bytes that decide first, the last one first, until none is left.
    bytes: Vec<u8>,
}

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance {
            state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d,
            bytes: Vec::new(),
        }
    }

    /// Lets a fuzzer decide: each byte is a decision, so that a changed byte changes one. A hash of
    /// all bytes decides what they leave open.
    #[allow(dead_code, reason = "the tests have seeds")]
    pub fn from_bytes(data: &[u8]) -> Chance {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Chance {
            bytes: data.iter().rev().copied().collect(),
            ..Chance::new(data.iter().fold(0xcbf2_9ce4_8422_2325, fold))
        }
    }

    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `end - 1`.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap();
        let number = match self.bytes.pop() {
            Some(byte) if end <= 256 => u64::from(byte),
            Some(byte) => u64::from(byte) << 8 | u64::from(self.bytes.pop().unwrap_or(0)),
            None => self.number(),
        };
        usize::try_from(number % end).unwrap()
    }

    /// Returns a number from `first` to `last`.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// Returns true in `percent` of 100 cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one element of a list.
    pub fn one<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// Returns one element of a list that does not consist of references.
    pub fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}
