//! Anchors, and what aliases and merge keys make of them.
//!
//! An anchor names a range of the view that is being written, or of a piece that was cut out of it
//! (the value of a merge key, or a collection that is a key). Copying a range costs its length, and
//! all copies together have a budget.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use super::node::YamlWriter;
use super::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES};
use crate::source::Span;
use crate::source::json::Scanner;
use crate::source::view::{FaultKind, View};

/// A position in a view: an offset in the text, and the number of a token.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ViewMark {
    pub json: usize,
    pub token: usize,
}

impl ViewMark {
    pub(super) fn end_of(view: &View) -> ViewMark {
        ViewMark {
            json: view.json.len(),
            token: view.tokens.len(),
        }
    }

    /// Returns the distance from an earlier position.
    fn since(self, start: ViewMark) -> ViewMark {
        ViewMark {
            json: self.json.saturating_sub(start.json),
            token: self.token.saturating_sub(start.token),
        }
    }
}

/// The node that an anchor names.
#[derive(Debug, Clone)]
pub(super) struct Anchored {
    /// The piece that has the text; `None` if it is the view that is being written.
    pub piece: Option<Rc<View>>,
    pub start: ViewMark,
    /// The end of the node; `None` while the node is open.
    pub end: Option<ViewMark>,
}

impl YamlWriter {
    /// Cuts what was written since `start` out of the view. Anchors in it then refer to the piece.
    pub(super) fn cut(&mut self, start: ViewMark, anchors_before: usize) -> Rc<View> {
        self.view.is_rearranged = true;
        let mut piece = View {
            json: self.view.json.split_off(start.json),
            tokens: self.view.tokens.split_off(start.token),
            ..View::default()
        };
        let base = u32::try_from(start.json).unwrap_or(u32::MAX);
        for token in &mut piece.tokens {
            token.at = token.at.saturating_sub(base);
        }
        let piece = Rc::new(piece);
        for anchored in self.anchors.iter_mut().skip(anchors_before).flatten() {
            if anchored.piece.is_none() && anchored.start.json >= start.json {
                anchored.piece = Some(Rc::clone(&piece));
                anchored.start = anchored.start.since(start);
                anchored.end = anchored.end.map(|end| end.since(start));
            }
        }
        piece
    }

    pub(super) fn closed(&self, anchor: usize) -> Option<Anchored> {
        let anchored = self.anchors.get(anchor)?.clone()?;
        anchored.end.is_some().then_some(anchored)
    }

    /// Takes `size` off the budget. If there is not enough left, returns false, and adds a fault
    /// the first time.
    pub(super) fn afford(&mut self, size: ViewMark, span: Span) -> bool {
        if size.json <= self.bytes_left && size.token <= self.nodes_left {
            self.bytes_left -= size.json;
            self.nodes_left -= size.token;
            return true;
        }
        // A refused request empties the budget, so that later requests are refused whatever their
        // size.
        (self.bytes_left, self.nodes_left) = (0, 0);
        if !std::mem::replace(&mut self.limit_reported, true) {
            let message = format!(
                "aliases add more than {MAX_ALIAS_NODES} nodes or {MAX_ALIAS_BYTES} bytes to the file, read as null from here on"
            );
            self.fault(FaultKind::Limit, span, message);
        }
        false
    }

    /// Appends a piece of a view.
    pub(super) fn copy(&mut self, piece: Option<&View>, range: Range<ViewMark>) {
        let to = self.view.json.len();
        let from = range.start.json;
        match piece {
            Some(other) => {
                let text = other.json.get(from..range.end.json).unwrap_or_default();
                self.view.json.extend_from_slice(text);
                let tokens = other.tokens.get(range.start.token..range.end.token).unwrap_or_default();
                self.view.tokens.extend_from_slice(tokens);
            }
            None => {
                self.view.json.extend_from_within(from..range.end.json);
                self.view.tokens.extend_from_within(range.start.token..range.end.token);
            }
        }
        let count = range.end.token.saturating_sub(range.start.token);
        let first = self.view.tokens.len().saturating_sub(count);
        for token in self.view.tokens.iter_mut().skip(first) {
            let at = (token.at as usize + to).saturating_sub(from);
            token.at = u32::try_from(at).unwrap_or(u32::MAX);
        }
    }

    /// Writes the keys of the merge sources that the mapping from `start` on does not have itself.
    pub(super) fn merge(&mut self, start: ViewMark, is_empty: &mut bool, merges: Vec<(Option<Anchored>, Span)>) {
        if self.limit_reported {
            // Reading the sources costs as much as writing them, so stop here.
            return;
        }
        let mut names: HashSet<Vec<u8>> = HashSet::new();
        self.view.json.push(b'}');
        let own = self.view.json.get(start.json..).unwrap_or_default();
        for (key, _) in entries(own, 0) {
            names.insert(own.get(key).unwrap_or_default().to_vec());
        }
        self.view.json.pop();
        for (source, span) in merges {
            let size = source.as_ref().map_or(0, |source| source.size().json);
            let Some(left) = self.merge_left.checked_sub(size) else {
                let everything = ViewMark {
                    json: usize::MAX,
                    token: usize::MAX,
                };
                self.afford(everything, span);
                return;
            };
            self.merge_left = left;
            let mappings = source.as_ref().map(|source| self.mappings(source)).unwrap_or_default();
            let Some(source) = source.filter(|_| !mappings.is_empty()) else {
                let message = "a merge key has no mapping to merge, it is left out".to_owned();
                self.fault(FaultKind::Syntax, span, message);
                continue;
            };
            for mapping in mappings {
                self.merge_from(&source, mapping, span, &mut names, is_empty);
            }
        }
    }

    /// Returns the view that has the anchor's node.
    fn view_of<'a>(&'a self, source: &'a Anchored) -> &'a View {
        source.piece.as_deref().unwrap_or(&self.view)
    }

    /// Returns where the mappings of a merge value start: the value itself, or the elements of a
    /// list.
    fn mappings(&self, source: &Anchored) -> Vec<usize> {
        let mut scan = Scanner::new(&self.view_of(source).json);
        scan.set_pos(source.start.json);
        let mut starts = Vec::new();
        match scan.peek() {
            b'{' => starts.push(source.start.json),
            b'[' => {
                let mut more = scan.open(b']').unwrap_or(false);
                while more {
                    if scan.peek() != b'{' {
                        return Vec::new();
                    }
                    starts.push(scan.pos());
                    more = scan.skip_value().is_ok() && scan.more(b']').unwrap_or(false);
                }
            }
            _ => {}
        }
        starts
    }

    fn merge_from(
        &mut self,
        source: &Anchored,
        mapping: usize,
        span: Span,
        names: &mut HashSet<Vec<u8>>,
        is_empty: &mut bool,
    ) {
        let View { json, tokens, .. } = self.view_of(source);
        let mark = |at: usize| ViewMark {
            json: at,
            token: tokens.partition_point(|token| (token.at as usize) < at),
        };
        let mut wanted = Vec::new();
        for (key, entry) in entries(json, mapping) {
            if names.insert(json.get(key).unwrap_or_default().to_vec()) {
                wanted.push(mark(entry.start)..mark(entry.end));
            }
        }
        for range in wanted {
            if !self.afford(range.end.since(range.start), span) {
                return;
            }
            if !std::mem::take(is_empty) {
                self.view.json.push(b',');
            }
            self.copy(source.piece.as_deref(), range);
        }
    }
}

impl Anchored {
    /// Returns all of a piece.
    pub(super) fn whole(piece: Rc<View>) -> Anchored {
        Anchored {
            start: ViewMark::default(),
            end: Some(ViewMark::end_of(&piece)),
            piece: Some(piece),
        }
    }

    pub(super) fn text(&self) -> Range<ViewMark> {
        self.start..self.end.unwrap_or(self.start)
    }

    pub(super) fn size(&self) -> ViewMark {
        let Range { start, end } = self.text();
        end.since(start)
    }
}

/// Returns the keys (without quotes) and the whole entries of the object at `start`.
fn entries(text: &[u8], start: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut scan = Scanner::new(text);
    scan.set_pos(start);
    let mut found = Vec::new();
    if scan.peek() != b'{' {
        return found;
    }
    let mut more = scan.open(b'}').unwrap_or(false);
    while more {
        let Ok(key) = scan.key() else { break };
        if scan.skip_value().is_err() {
            break;
        }
        found.push((key.start..key.end, key.start - 1..scan.pos()));
        more = scan.more(b'}').unwrap_or(false);
    }
    found
}
