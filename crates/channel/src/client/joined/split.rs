//! Decides by their paths which documents belong to one world. It knows paths and names, and
//! nothing of xDS.
//!
//! All documents are one world, unless two of them have one name with different content. The paths
//! of such documents part in some directory, and the two subdirectories in which they go on are
//! alternatives: each is a world, together with all documents below no alternative. Alternatives of
//! the same name, in directories that do not contain each other, are one: `clusters/prod` and
//! `routes/prod`. Files of one directory go together by what their names have besides words for
//! types (`cds-dev.yaml` and `lds-dev.yaml`), else by number: the first of each name, the second,
//! and so on.

use std::collections::{BTreeMap, BTreeSet};

/// The most files of one directory that may each have another resource of one name. If there are
/// more, each file is a world by itself.
const MAX_COPIES: u32 = 64;

/// The most paths that the name of a world lists.
const MAX_NAMED: usize = 3;

/// Where a document stands: its directories, then its file name.
pub type DocumentPlace = Vec<String>;

/// The index of a document that has a name, and a hash of what it has under that name.
pub(super) type Holder = (usize, u64);

/// The worlds into which documents are split.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// The numbers of the worlds of each document; empty for a document that is a world by itself.
    pub homes: Vec<Vec<usize>>,
    /// The name of each world.
    pub names: Vec<String>,
    /// Names that two files of one directory have with different content.
    pub twice: Vec<Twice>,
}

/// A name that two files of one directory have with different content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Twice {
    /// The index of the name.
    pub name: usize,
    /// The first two documents.
    pub documents: (usize, usize),
    /// Whether the directory has too many such files, so that each is a world by itself.
    pub is_alone: bool,
}

/// One of several places whose documents are not in one world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Alternative<'p> {
    Directory(&'p str),
    /// Files of one directory, by the stem of their names, or by number.
    Files(String, u32),
}

/// Words for types of resources, which name no world.
const TYPE_WORDS: [&str; 14] = [
    "lds",
    "listener",
    "listeners",
    "rds",
    "route",
    "routes",
    "cds",
    "cluster",
    "clusters",
    "eds",
    "endpoint",
    "endpoints",
    "xds",
    "config",
];

/// A directory, and one of its alternatives.
type ForkStep<'p> = (&'p [String], Alternative<'p>);

/// The alternatives of one directory.
#[derive(Debug, Default)]
struct Fork<'p> {
    directories: BTreeSet<&'p str>,
    /// The documents, with the names that others have too, and a hash of the content.
    files: BTreeMap<usize, Vec<(usize, u64)>>,
    /// The number of each document in `files`; `None` if there are too many.
    numbers: Option<BTreeMap<usize, u32>>,
    /// The stems of the files, if these say which files go together.
    stems: BTreeSet<String>,
}

/// Splits documents into worlds. `places` is sorted. `names` has the names that several documents
/// have, each with its holders in the order of the documents.
pub(super) fn split(places: &[DocumentPlace], names: &[Vec<Holder>]) -> Split {
    let mut forks: BTreeMap<&[String], Fork<'_>> = BTreeMap::new();
    for (name, holders) in names.iter().enumerate() {
        part(places, name, holders, &mut forks);
    }
    let mut split = Split::default();
    for (directory, fork) in &mut forks {
        fork.number();
        fork.stem(places, directory);
        split.twice.extend(fork.twice());
    }
    let chains: Vec<Option<Vec<ForkStep<'_>>>> = (0..places.len())
        .map(|document| chain(places, document, &forks))
        .collect();
    let worlds = worlds(&chains);
    // A document belongs to each world that agrees with all alternatives above the document.
    let mut belongs: BTreeMap<&[ForkStep<'_>], Vec<usize>> = BTreeMap::new();
    for (number, ends) in worlds.iter().enumerate() {
        for length in ends
            .iter()
            .flat_map(|end| (0..=end.len()).map(move |length| (end, length)))
        {
            let (end, length) = length;
            let homes = belongs.entry(end.get(..length).unwrap_or_default()).or_default();
            if homes.last() != Some(&number) {
                homes.push(number);
            }
        }
    }
    let of_chain = |chain: &Option<Vec<ForkStep<'_>>>| match chain {
        None => Vec::new(),
        Some(chain) if worlds.is_empty() && chain.is_empty() => vec![0],
        Some(chain) => belongs.get(chain.as_slice()).cloned().unwrap_or_default(),
    };
    split.homes = chains.iter().map(of_chain).collect();
    split.names = worlds.iter().map(|ends| name_of(ends, &chains, places)).collect();
    if split.names.is_empty() {
        split.names.push(common(places));
    }
    split
}

/// Finds the directories in which the holders of a name part.
fn part<'p>(
    places: &'p [DocumentPlace],
    name: usize,
    holders: &[Holder],
    forks: &mut BTreeMap<&'p [String], Fork<'p>>,
) {
    let place = |holder: &Holder| places.get(holder.0).map(Vec::as_slice).unwrap_or_default();
    let mut open = vec![holders];
    while let Some(holders) = open.pop() {
        let (Some(first), Some(last)) = (holders.first(), holders.last()) else {
            continue;
        };
        if holders.iter().all(|(_, hash)| *hash == first.1) {
            continue;
        }
        let depth = place(first).iter().zip(place(last)).take_while(|(a, b)| a == b).count();
        let fork = forks.entry(place(first).get(..depth).unwrap_or_default()).or_default();
        for below in holders.chunk_by(|a, b| place(a).get(depth) == place(b).get(depth)) {
            let Some(first) = below.first() else { continue };
            match place(first).get(depth..).unwrap_or_default() {
                [directory, _, ..] => {
                    fork.directories.insert(directory);
                    open.push(below);
                }
                _ => {
                    for (document, hash) in below {
                        fork.files.entry(*document).or_default().push((name, *hash));
                    }
                }
            }
        }
    }
}

impl Fork<'_> {
    /// Gives each file the lowest number under which no other file has one of its names with other
    /// content.
    fn number(&mut self) {
        let mut taken: BTreeMap<usize, BTreeMap<u64, u64>> = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        for (document, names) in &self.files {
            let others = names.iter().flat_map(|(name, hash)| {
                let of_name = taken.get(name).into_iter().flatten();
                of_name.filter(move |(other, _)| *other != hash).map(|(_, bits)| *bits)
            });
            let number = others.fold(0, |all, bits| all | bits).trailing_ones();
            if number >= MAX_COPIES {
                return;
            }
            for (name, hash) in names {
                *taken.entry(*name).or_default().entry(*hash).or_default() |= 1 << number;
            }
            numbers.insert(*document, number);
        }
        self.numbers = Some(numbers);
    }

    /// Finds out whether the names of the files say which files go together: all of them name
    /// types, no two files of one stem conflict, and most stems have several files.
    fn stem(&mut self, places: &[DocumentPlace], directory: &[String]) {
        let name = |document: &usize| places.get(*document)?.last();
        let names: Vec<&String> = self.files.keys().filter_map(name).collect();
        let is_one = self
            .numbers
            .as_ref()
            .is_some_and(|numbers| numbers.values().all(|number| *number == 0));
        if is_one || names.iter().any(|name| !names_type(name)) {
            return;
        }
        let mut held: BTreeMap<(String, usize), u64> = BTreeMap::new();
        for (document, of_document) in &self.files {
            let stem = name(document).map(|name| stem_of(name)).unwrap_or_default();
            for (name, hash) in of_document {
                if *held.entry((stem.clone(), *name)).or_insert(*hash) != *hash {
                    return;
                }
            }
        }
        let stems: BTreeSet<String> = names.iter().map(|name| stem_of(name)).collect();
        let mut files: BTreeMap<String, usize> = BTreeMap::new();
        let from = places.partition_point(|place| place.as_slice() < directory);
        let below = places
            .iter()
            .skip(from)
            .take_while(|place| place.starts_with(directory));
        for name in below
            .filter(|place| place.len() == directory.len() + 1)
            .filter_map(|place| place.last())
        {
            *files.entry(stem_of(name)).or_default() += 1;
        }
        let together = stems
            .iter()
            .filter(|stem| files.get(*stem).is_some_and(|count| *count > 1));
        if together.count() * 2 > stems.len() {
            self.stems = stems;
        }
    }

    /// The names that two of the files have with different content.
    fn twice(&self) -> impl Iterator<Item = Twice> {
        let mut first: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
        let mut twice: BTreeMap<usize, Twice> = BTreeMap::new();
        // If file names say what goes together, such names are meant to differ.
        for (document, names) in self.files.iter().filter(|_| self.stems.is_empty()) {
            for (name, hash) in names {
                let (one, of_first) = *first.entry(*name).or_insert((*document, *hash));
                if of_first != *hash {
                    twice.entry(*name).or_insert(Twice {
                        name: *name,
                        documents: (one, *document),
                        is_alone: self.numbers.is_none(),
                    });
                }
            }
        }
        twice.into_values()
    }
}

/// The words of a file's name, without its ending.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
    name.split(['-', '_', '.'])
}

fn names_type(name: &str) -> bool {
    words(name).any(|word| TYPE_WORDS.contains(&word))
}

/// The words of a file's name that name no type, joined by hyphens.
fn stem_of(name: &str) -> String {
    let words: Vec<&str> = words(name).filter(|word| !TYPE_WORDS.contains(word)).collect();
    words.join("-")
}

/// The alternatives in which a document stands, from the outermost inwards; `None` if it is a world
/// by itself.
fn chain<'p>(
    places: &'p [DocumentPlace],
    document: usize,
    forks: &BTreeMap<&'p [String], Fork<'p>>,
) -> Option<Vec<ForkStep<'p>>> {
    let place = places.get(document)?;
    let mut chain = Vec::new();
    for (depth, step) in place.iter().enumerate() {
        let directory = place.get(..depth).unwrap_or_default();
        let Some(fork) = forks.get(directory) else { continue };
        if depth + 1 < place.len() && fork.directories.contains(step.as_str()) {
            chain.push((directory, Alternative::Directory(step)));
        } else if depth + 1 == place.len() {
            let stem = stem_of(step);
            if let Some(stem) = fork.stems.get(&stem) {
                chain.push((directory, Alternative::Files(stem.clone(), 0)));
            } else if fork.files.contains_key(&document) {
                let number = fork.numbers.as_ref()?.get(&document)?;
                chain.push((directory, Alternative::Files(String::new(), *number)));
            }
        }
    }
    Some(chain)
}

/// The worlds, each with the innermost alternatives that belong to it.
fn worlds<'p>(chains: &[Option<Vec<ForkStep<'p>>>]) -> Vec<Vec<Vec<ForkStep<'p>>>> {
    let all: BTreeSet<&Vec<ForkStep<'p>>> = chains.iter().flatten().filter(|chain| !chain.is_empty()).collect();
    let mut by_label: BTreeMap<Vec<Alternative<'p>>, Vec<Vec<ForkStep<'p>>>> = BTreeMap::new();
    let mut all = all.into_iter().peekable();
    while let Some(chain) = all.next() {
        // The chains are sorted: one that continues this chain comes next.
        if all.peek().is_none_or(|next| !next.starts_with(chain)) {
            let label = chain.iter().map(|(_, alternative)| alternative.clone()).collect();
            by_label.entry(label).or_default().push(chain.clone());
        }
    }
    by_label.into_values().collect()
}

fn name_of(ends: &[Vec<ForkStep<'_>>], chains: &[Option<Vec<ForkStep<'_>>>], places: &[DocumentPlace]) -> String {
    let mut names = Vec::new();
    for end in ends {
        match end.last() {
            Some((directory, Alternative::Directory(name))) => {
                let steps = directory.iter().map(String::as_str).chain([*name]);
                names.push(shown(steps));
            }
            Some((directory, Alternative::Files(stem, _))) if !stem.is_empty() => {
                let name = format!("*{stem}*");
                names.push(shown(directory.iter().map(String::as_str).chain([name.as_str()])));
            }
            Some((_, Alternative::Files(..))) => {
                let of_world = chains
                    .iter()
                    .zip(places)
                    .filter(|(chain, _)| chain.as_ref() == Some(end));
                names.extend(of_world.map(|(_, place)| shown(place.iter().map(String::as_str))));
            }
            None => {}
        }
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    match more {
        0 => names.join(" + "),
        more => format!("{} and {more} more", names.join(" + ")),
    }
}

/// The directory that all documents stand in.
fn common(places: &[DocumentPlace]) -> String {
    let first = places.first().map(Vec::as_slice).unwrap_or_default();
    let shortest = places.iter().map(|place| {
        let same = place.iter().zip(first).take_while(|(a, b)| a == b).count();
        same.min(place.len().saturating_sub(1))
    });
    let depth = shortest.min().unwrap_or_default();
    shown(first.iter().take(depth).map(String::as_str))
}

/// Writes a path as people do.
pub(super) fn shown<'s>(steps: impl Iterator<Item = &'s str>) -> String {
    let mut shown = String::new();
    for step in steps {
        if !shown.is_empty() && !shown.ends_with(['/', ':']) {
            shown.push('/');
        }
        shown.push_str(step);
    }
    if shown.is_empty() { ".".to_owned() } else { shown }
}
