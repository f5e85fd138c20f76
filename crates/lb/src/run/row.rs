//! A list of a policy's children that counts, in tests, how many of them are looked at.
//!
//! A policy with many children gets an event for each of their changes. It must not look at all
//! children for one change: with 20,000 endpoints that took 18 s. The tests of the simulator count
//! looks, because counts are exact and times are not.

/// A list of children.
#[derive(Debug)]
pub struct Row<T>(Vec<T>);

/// Counts looks at children; does nothing without debug assertions.
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
    /// Returns the number of children.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are no children.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the child at an index.
    pub fn get(&self, index: usize) -> Option<&T> {
        look(1);
        self.0.get(index)
    }

    /// Returns the child at an index, to be changed.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        look(1);
        self.0.get_mut(index)
    }

    /// Iterates over the children. Only those that are asked for count.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().inspect(|_| look(1))
    }

    /// Iterates over the children, to change them. Only those that are asked for count.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().inspect(|_| look(1))
    }

    /// Adds a child.
    pub fn push(&mut self, item: T) {
        self.0.push(item);
    }

    /// Removes all children.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The count of looks.
pub mod looks {
    use std::cell::Cell;

    thread_local! {
        pub(super) static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// Returns at how many children the work looks.
    pub fn during(work: impl FnOnce()) -> u64 {
        let before = COUNT.get();
        work();
        COUNT.get() - before
    }
}
