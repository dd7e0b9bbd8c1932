//! Chance that can be repeated: the same seed, the same throws, on every machine and in every version of this repository.

pub struct Dice(u64);

impl Dice {
    pub fn of(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.throw() % end as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    /// One of them, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in choices {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *choice,
            }
        }
        unreachable!("a throw below the sum of the weights");
    }
}

/// One in so many of a list, others in each run: those that JOBDOCTOR_SAMPLE=SEED names. The night says `all`.
#[expect(clippy::disallowed_methods, reason = "whoever saw a failure repeats it")]
#[expect(clippy::print_stdout, reason = "a failure shows how it is repeated")]
pub fn one_in<T>(of: usize, all: Vec<T>) -> Vec<T> {
    let wanted = std::env::var("JOBDOCTOR_SAMPLE").ok();
    if wanted.as_deref() == Some("all") {
        return all;
    }
    let seed = wanted.map_or_else(fresh_seed, |seed| seed.parse().expect("JOBDOCTOR_SAMPLE is a number or `all`"));
    println!("one in {of}, repeated with JOBDOCTOR_SAMPLE={seed}");
    let first = Dice::of(seed).below(of);
    all.into_iter().skip(first).step_by(of).collect()
}

/// A seed that nobody has chosen.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Small enough to be typed.
    RandomState::new().hash_one(0) >> 24
}
