//! A list in pieces, which several versions of the list share. A version with one element changed
//! costs as much memory as a piece, not as the whole list.

use std::fmt;
use std::iter::FlatMap;
use std::slice;
use std::sync::Arc;

/// The number of elements in a piece that [`Builder`] makes.
const USUAL: usize = 64;

/// A list that shares its unchanged pieces with other versions.
#[derive(Clone)]
pub struct Pieces<T> {
    /// The pieces, none of which is empty.
    pieces: Vec<Arc<[T]>>,
    len: usize,
}

/// An iterator over the elements in order.
pub type Iter<'l, T> = FlatMap<slice::Iter<'l, Arc<[T]>>, slice::Iter<'l, T>, fn(&'l Arc<[T]>) -> slice::Iter<'l, T>>;

/// Where two lists differ: the elements between a common beginning and a common end.
#[derive(Debug)]
pub struct Difference<'l, T> {
    /// The number of elements in the common beginning.
    pub before: usize,
    /// The elements of the old list that differ.
    pub old: Vec<&'l T>,
    /// The elements of the new list that differ.
    pub new: Vec<&'l T>,
}

impl<T> Pieces<T> {
    /// Makes a list without elements.
    pub const fn new() -> Pieces<T> {
        Pieces {
            pieces: Vec::new(),
            len: 0,
        }
    }

    /// Makes a list of these pieces.
    pub fn of(pieces: impl IntoIterator<Item = Arc<[T]>>) -> Pieces<T> {
        let pieces: Vec<Arc<[T]>> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let len = pieces.iter().map(|piece| piece.len()).sum();
        Pieces { pieces, len }
    }

    /// Returns the pieces, none of which is empty.
    pub fn pieces(&self) -> &[Arc<[T]>] {
        &self.pieces
    }

    /// Returns the list with `piece` in place of the piece with this number.
    #[must_use]
    pub fn with_piece(&self, number: usize, piece: Arc<[T]>) -> Pieces<T> {
        let all = self.pieces.iter().enumerate();
        Pieces::of(all.map(|(place, known)| if place == number { piece.clone() } else { known.clone() }))
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Says whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the elements in order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.pieces.iter().flat_map(|piece| piece.iter())
    }

    /// Returns the element at an index.
    pub fn get(&self, index: usize) -> Option<&T> {
        let mut rest = index;
        for piece in &self.pieces {
            match piece.get(rest) {
                Some(found) => return Some(found),
                None => rest -= piece.len(),
            }
        }
        None
    }

    /// Returns the first element.
    pub fn first(&self) -> Option<&T> {
        self.pieces.first()?.first()
    }

    /// Returns the last element.
    pub fn last(&self) -> Option<&T> {
        self.pieces.last()?.last()
    }

    /// Says whether two lists consist of the same pieces in memory.
    pub fn is_shared(&self, other: &Pieces<T>) -> bool {
        self.pieces.len() == other.pieces.len() && shared(self.pieces.iter().zip(&other.pieces)) == self.pieces.len()
    }

    /// Returns where a newer version differs. `is_same` compares the elements of pieces that the
    /// lists do not share.
    pub fn difference<'l>(&'l self, newer: &'l Pieces<T>, is_same: impl Fn(&T, &T) -> bool) -> Difference<'l, T> {
        let (old, new) = (self.pieces.as_slice(), newer.pieces.as_slice());
        let front = shared(old.iter().zip(new));
        let (shared_pieces, old) = old.split_at(front);
        let new = new.get(front..).unwrap_or_default();
        let back = shared(old.iter().rev().zip(new.iter().rev()));
        let elements = |pieces: &'l [Arc<[T]>]| -> Vec<&'l T> {
            let middle = pieces.get(..pieces.len() - back).unwrap_or_default();
            middle.iter().flat_map(|piece| piece.iter()).collect()
        };
        let (mut old, mut new) = (elements(old), elements(new));
        while let (Some(one), Some(other)) = (old.last(), new.last())
            && is_same(one, other)
        {
            old.pop();
            new.pop();
        }
        let same = old.iter().zip(&new).take_while(|(one, other)| is_same(one, other));
        let same = same.count();
        old.drain(..same);
        new.drain(..same);
        let before: usize = shared_pieces.iter().map(|piece| piece.len()).sum();
        Difference {
            before: before + same,
            old,
            new,
        }
    }
}

/// Counts the leading pairs whose two pieces are the same in memory.
fn shared<'l, T: 'l>(pairs: impl Iterator<Item = (&'l Arc<[T]>, &'l Arc<[T]>)>) -> usize {
    pairs.take_while(|(one, other)| Arc::ptr_eq(one, other)).count()
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Pieces<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: PartialEq> PartialEq for Pieces<T> {
    fn eq(&self, other: &Self) -> bool {
        let is_alike = |(one, other): (&Arc<[T]>, &Arc<[T]>)| one.len() == other.len();
        if self.len != other.len {
            return false;
        }
        let pairs = || self.pieces.iter().zip(&other.pieces);
        match self.pieces.len() == other.pieces.len() && pairs().all(is_alike) {
            true => pairs().all(|(one, other)| Arc::ptr_eq(one, other) || one == other),
            false => self.iter().eq(other),
        }
    }
}

impl<T: Eq> Eq for Pieces<T> {}

impl<T> FromIterator<T> for Pieces<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut builder = Builder::default();
        elements.into_iter().for_each(|element| builder.push(element));
        builder.done()
    }
}

impl<T> From<Vec<T>> for Pieces<T> {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<'l, T> IntoIterator for &'l Pieces<T> {
    type Item = &'l T;
    type IntoIter = Iter<'l, T>;

    fn into_iter(self) -> Iter<'l, T> {
        self.iter()
    }
}

/// Builds a list element by element.
#[derive(Debug)]
pub struct Builder<T> {
    pieces: Vec<Arc<[T]>>,
    open: Vec<T>,
}

impl<T> Default for Builder<T> {
    fn default() -> Self {
        Builder {
            pieces: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl<T> Builder<T> {
    /// Adds an element.
    pub fn push(&mut self, element: T) {
        if self.open.len() == USUAL {
            self.close();
        }
        self.open.push(element);
    }

    /// Ends a piece, so that the next element begins a new one.
    fn close(&mut self) {
        if !self.open.is_empty() {
            // The memory of the open piece is used again.
            self.pieces.push(self.open.drain(..).collect());
        }
    }

    /// Returns the list that was built.
    pub fn done(mut self) -> Pieces<T> {
        self.close();
        Pieces::of(self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(range: std::ops::Range<u32>) -> Pieces<u32> {
        range.collect()
    }

    fn difference(old: &Pieces<u32>, new: &Pieces<u32>) -> (usize, Vec<u32>, Vec<u32>) {
        let found = old.difference(new, |one, other| one == other);
        let own = |list: Vec<&u32>| list.into_iter().copied().collect();
        (found.before, own(found.old), own(found.new))
    }

    #[test]
    fn elements_come_in_order() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let pieces = list(0..len);
            assert_eq!(pieces.len(), len as usize);
            assert!(pieces.iter().copied().eq(0..len));
            assert_eq!(pieces.first().copied(), (len > 0).then_some(0));
            assert_eq!(pieces.last().copied(), len.checked_sub(1));
            assert_eq!(pieces.get(64).copied(), (len > 64).then_some(64));
            assert_eq!(pieces.get(len as usize), None);
        }
    }

    #[test]
    fn versions_are_equal_by_their_elements() {
        let one = list(0..200);
        let other = Pieces::of(
            [list(0..10), list(10..200)]
                .iter()
                .flat_map(|part| part.pieces().to_vec()),
        );
        assert!(one == other && one != list(0..199) && one != list(1..201));
        let changed = one.with_piece(1, Arc::from(vec![7; 64]));
        assert!(one != changed && !one.is_shared(&changed) && one.is_shared(&one.clone()));
        assert!(Arc::ptr_eq(&one.pieces()[2], &changed.pieces()[2]));
    }

    #[test]
    fn a_difference_is_as_small_as_it_can_be() {
        let one = list(0..200);
        assert_eq!(difference(&one, &one.clone()), (200, vec![], vec![]));
        let piece: Vec<u32> = (64..128).map(|n| if n == 70 { 0 } else { n }).collect();
        assert_eq!(
            difference(&one, &one.with_piece(1, piece.into())),
            (70, vec![70], vec![0])
        );
        let less: Vec<u32> = (64..128).filter(|n| *n != 70).collect();
        let shorter = one.with_piece(1, less.into());
        assert_eq!(difference(&one, &shorter), (70, vec![70], vec![]));
        assert_eq!(difference(&shorter, &one), (70, vec![], vec![70]));
        // The difference is minimal even where nothing is shared.
        assert_eq!(difference(&one, &list(0..199)), (199, vec![199], vec![]));
        assert_eq!(difference(&list(1..200), &list(0..200)), (0, vec![], vec![0]));
        assert_eq!(difference(&Pieces::new(), &list(0..2)), (0, vec![], vec![0, 1]));
    }
}
