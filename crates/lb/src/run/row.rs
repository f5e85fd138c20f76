//! The children of a policy in a list that knows, in tests, how many of them are looked at.
//!
//! A policy with many children hears of each of their changes. What it makes of one must not cost a
//! look at all of them: with 20,000 endpoints that was 18 s. The tests of the simulator count
//! looks, which tell that as exactly as time does not.

/// A list of children.
#[derive(Debug)]
pub struct Row<T>(Vec<T>);

/// Notes that so many children are looked at; nothing without debug assertions.
#[inline]
pub fn look(count: usize) {
    if cfg!(debug_assertions) {
        looks::COUNT.set(looks::COUNT.get() + count as u64);
    }
}

impl<T> Default for Row<T> {
    fn default() -> Row<T> {
        Row(Vec::new())
    }
}

impl<T> IntoIterator for Row<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        look(self.0.len());
        self.0.into_iter()
    }
}

impl<T> Row<T> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them.
    pub fn get(&self, index: usize) -> Option<&T> {
        look(1);
        self.0.get(index)
    }

    /// One of them.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        look(1);
        self.0.get_mut(index)
    }

    /// All of them, as far as they are asked for.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().inspect(|_| look(1))
    }

    /// All of them, as far as they are asked for.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().inspect(|_| look(1))
    }

    /// Adds one.
    pub fn push(&mut self, item: T) {
        self.0.push(item);
    }

    /// Lets go of all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The count.
pub mod looks {
    use std::cell::Cell;

    thread_local! {
        pub(super) static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// How many children the work looks at.
    pub fn during(work: impl FnOnce()) -> u64 {
        let before = COUNT.get();
        work();
        COUNT.get() - before
    }
}
