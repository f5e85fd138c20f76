//! Random numbers: a small generator of xdsctl's own, because its numbers must never change with a
//! library's version.
//!
//! Every consumer of random numbers has its own stream, named after it, so that a new consumer does
//! not shift the draws of the others. The generator is xoshiro256** (Blackman and Vigna), seeded
//! through SplitMix64; the tests check their published test vectors. The client's own generators
//! are not seeded, so only distributions can be compared with it.

use twox_hash::XxHash64;

/// SplitMix64, which turns one number into a sequence of well-mixed ones.
#[derive(Debug, Clone)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A stream of random numbers: xoshiro256**.
///
/// ```
/// use xdsctl_model::rng::Rng;
/// let mut a = Rng::stream(1, "drops");
/// let mut b = Rng::stream(1, "drops");
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!(a.below(6) < 6);
/// ```
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Returns the stream of a seed with this name. Streams of different names are independent.
    pub fn stream(seed: u64, name: &str) -> Rng {
        let mut mix = SplitMix64(XxHash64::oneshot(seed, name.as_bytes()));
        Rng {
            state: [mix.next(), mix.next(), mix.next(), mix.next()],
        }
    }

    /// Returns a number from 0 to 2^64-1.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Returns a number from 0 to `end - 1`, each equally likely; 0 if `end` is 0.
    ///
    /// Uses Lemire's multiplication with rejection.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 {
            return 0;
        }
        let unfair = end.wrapping_neg() % end;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(end);
            // The low half decides about rejection, the high half is the number.
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a random index into a list of `len` elements; 0 if the list is empty.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts the elements into random order, each order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_the_published_numbers() {
        let mut mix = SplitMix64(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| mix.next()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn xoshiro256_gives_the_published_numbers() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let numbers: Vec<u64> = (0..8).map(|_| rng.next_u64()).collect();
        assert_eq!(
            numbers,
            [
                11_520,
                0,
                1_509_978_240,
                1_215_971_899_390_074_240,
                1_216_172_134_540_287_360,
                607_988_272_756_665_600,
                16_172_922_978_634_559_625,
                8_476_171_486_693_032_832
            ]
        );
    }

    #[test]
    fn streams_differ_by_seed_and_name() {
        let first = |seed, name| Rng::stream(seed, name).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn numbers_stay_in_range_and_are_even() {
        let mut rng = Rng::stream(7, "range");
        let mut counts = [0u32; 3];
        for _ in 0..30_000 {
            counts[rng.below(3) as usize] += 1;
            let unit = rng.unit();
            assert!((0.0..1.0).contains(&unit));
        }
        // The standard deviation is 82; the bound is five of them.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 410), "{counts:?}");
        assert_eq!((rng.below(0), rng.below(1), rng.index(0)), (0, 0, 0));
    }

    #[test]
    fn shuffling_reaches_every_order() {
        let mut rng = Rng::stream(3, "shuffle");
        let orders: std::collections::BTreeSet<[u8; 3]> = (0..100)
            .map(|_| {
                let mut order = [0, 1, 2];
                rng.shuffle(&mut order);
                order
            })
            .collect();
        assert_eq!(orders.len(), 6);
    }
}
