//! The message index and the two lists that annotate it.

use std::collections::{BTreeMap, BTreeSet};

use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorSet};

/// Every message and enum of the set by full name, without the leading dot. A message comes with whether it is of
/// proto2.
pub struct Index<'a> {
    pub messages: BTreeMap<String, (&'a DescriptorProto, bool)>,
    pub enums: BTreeMap<String, &'a EnumDescriptorProto>,
}

pub fn index(set: &FileDescriptorSet) -> Index<'_> {
    let mut index = Index {
        messages: BTreeMap::new(),
        enums: BTreeMap::new(),
    };
    for file in &set.file {
        let is_proto2 = file.syntax() != "proto3";
        for item in &file.enum_type {
            index.enums.insert(join(file.package(), item.name()), item);
        }
        for message in &file.message_type {
            index.add(file.package(), message, is_proto2);
        }
    }
    index
}

impl<'a> Index<'a> {
    fn add(&mut self, scope: &str, message: &'a DescriptorProto, is_proto2: bool) {
        let name = join(scope, message.name());
        for item in &message.enum_type {
            self.enums.insert(join(&name, item.name()), item);
        }
        for nested in &message.nested_type {
            self.add(&name, nested, is_proto2);
        }
        self.messages.insert(name, (message, is_proto2));
    }

    fn message(&self, name: &str) -> Result<&'a DescriptorProto, String> {
        self.messages
            .get(name)
            .map(|(message, _)| *message)
            .ok_or_else(|| format!("no message {name}"))
    }

    /// The number of a field.
    fn field(&self, message: &str, field: &str) -> Result<i32, String> {
        let mut fields = self.message(message)?.field.iter();
        let found = fields.find(|candidate| candidate.name() == field);
        found
            .map(|found| found.number())
            .ok_or_else(|| format!("no field {message}.{field}"))
    }
}

/// The lines of a list, without blank ones and comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

pub fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    }
}

/// Marks of fields that other clients than C-core read.
const FAMILIES: &[&str] = &["cpp", "go", "java", "node", "rust"];

/// `reads.txt`.
pub struct Reads {
    by_message: BTreeMap<String, Line>,
}

#[derive(Default)]
struct Line {
    client: Option<BTreeSet<i32>>,
    loader: Option<BTreeSet<i32>>,
    others: Option<BTreeSet<i32>>,
    lazy: bool,
    /// Fields by the families that do not read them; 0 stands for the whole message.
    without: BTreeMap<&'static str, BTreeSet<i32>>,
    /// Fields by the families that read them although C-core does not.
    beyond: BTreeMap<&'static str, BTreeSet<i32>>,
}

impl Line {
    /// Adds what a line says of families; `*` is the message itself.
    fn of_families(&mut self, families: &str, is_without: bool, fields: &str, numbers: &BTreeSet<i32>) {
        for family in FAMILIES
            .iter()
            .filter(|family| families.split(',').any(|one| one == **family))
        {
            let side = if is_without {
                &mut self.without
            } else {
                &mut self.beyond
            };
            let of_family = side.entry(family).or_default();
            match fields.trim() {
                "*" => _ = of_family.insert(0),
                _ => of_family.extend(numbers),
            }
        }
    }
}

impl Reads {
    pub fn parse(text: &str, index: &Index) -> Result<Self, String> {
        let mut by_message: BTreeMap<String, Line> = BTreeMap::new();
        for line in lines(text) {
            let (head, fields) = line
                .split_once(':')
                .ok_or_else(|| format!("reads.txt: no colon in {line:?}"))?;
            let (mark, name) = head.rsplit_once(' ').unwrap_or(("", head));
            let (mark, is_without) = match mark.strip_prefix("without ") {
                Some(families) => (families, true),
                None => (mark, false),
            };
            let (loader, others, lazy) = match mark {
                "" => (false, false, false),
                "loader" => (true, false, false),
                "lazy" => (false, false, true),
                families if families.split(',').all(|family| FAMILIES.contains(&family)) => (false, true, false),
                _ => return Err(format!("reads.txt: {mark:?} is no mark of a message")),
            };
            let error = |error| format!("reads.txt: {error}");
            let message = index.message(name).map_err(error)?;
            let mut numbers = BTreeSet::new();
            for field in fields.split_whitespace() {
                match field {
                    "*" => numbers.extend(message.field.iter().map(|field| field.number())),
                    _ => _ = numbers.insert(index.field(name, field).map_err(error)?),
                }
            }
            let entry = by_message.entry(name.to_owned()).or_default();
            entry.lazy |= lazy;
            if others {
                // A message has a line for each set of families.
                entry.of_families(mark, is_without, fields, &numbers);
                if !is_without {
                    entry.others.get_or_insert_default().extend(numbers);
                }
                continue;
            }
            let slot = if loader { &mut entry.loader } else { &mut entry.client };
            if slot.replace(numbers).is_some() {
                return Err(format!("reads.txt: {name} is listed twice"));
            }
        }
        Ok(Self { by_message })
    }

    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.by_message.keys().map(String::as_str)
    }

    pub fn client_lists(&self, message: &str) -> bool {
        self.by_message.get(message).is_some_and(|line| line.client.is_some())
    }

    pub fn loader_lists(&self, message: &str) -> bool {
        self.by_message.get(message).is_some_and(|line| line.loader.is_some())
    }

    /// Is the field in this list of its message?
    fn has(&self, message: &str, field: i32, list: fn(&Line) -> &Option<BTreeSet<i32>>) -> bool {
        let line = self.by_message.get(message);
        line.and_then(|line| list(line).as_ref())
            .is_some_and(|set| set.contains(&field))
    }

    /// Does gRPC read this field?
    pub fn client(&self, message: &str, field: i32) -> bool {
        self.has(message, field, |line| &line.client)
    }

    /// Do the generated types keep messages of this type as bytes?
    pub fn lazy(&self, message: &str) -> bool {
        self.by_message.get(message).is_some_and(|line| line.lazy)
    }

    /// Does C-core or xdsctl itself read this field?
    pub fn judged(&self, message: &str, field: i32) -> bool {
        self.client(message, field) || self.has(message, field, |line| &line.loader)
    }

    /// The families in `families` (the names of `reads.txt`) that a line sets apart from C-core at a field, as bits in that order;
    /// field 0 is the message itself.
    pub fn apart(&self, message: &str, field: i32) -> (u8, u8) {
        let Some(line) = self.by_message.get(message) else {
            return (0, 0);
        };
        let bits = |side: &BTreeMap<&'static str, BTreeSet<i32>>| {
            let families = FAMILIES.iter().enumerate();
            let listed = families.filter(|(_, family)| side.get(*family).is_some_and(|fields| fields.contains(&field)));
            listed.fold(0, |bits, (number, _)| bits | 1 << number)
        };
        (bits(&line.beyond), bits(&line.without))
    }

    /// Does any client or xdsctl itself read this field?
    pub fn anyone(&self, message: &str, field: i32) -> bool {
        self.judged(message, field) || self.has(message, field, |line| &line.others)
    }
}

/// `unknown-to-client.txt`: messages and fields that have something in common.
pub struct Marked {
    messages: BTreeSet<String>,
    fields: BTreeSet<(String, i32)>,
}

impl Marked {
    pub fn read(file: &str, index: &Index) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let mut marked = Self {
            messages: BTreeSet::new(),
            fields: BTreeSet::new(),
        };
        for line in lines(&text) {
            let error = |error| format!("{file}: {error}");
            match line.split_once(": ") {
                Some(("message", name)) => {
                    index.message(name).map_err(error)?;
                    marked.messages.insert(name.to_owned());
                }
                Some((name, fields)) => {
                    for field in fields.split_whitespace() {
                        let number = index.field(name, field).map_err(error)?;
                        marked.fields.insert((name.to_owned(), number));
                    }
                }
                None => return Err(error(format!("bad line {line:?}"))),
            }
        }
        Ok(marked)
    }

    pub fn message(&self, name: &str) -> bool {
        self.messages.contains(name)
    }

    pub fn field(&self, message: &str, field: i32) -> bool {
        self.message(message) || self.fields.contains(&(message.to_owned(), field))
    }
}

/// `harmless.txt`: the fields whose text may be printed.
pub struct Harmless {
    anywhere: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
    denied: BTreeSet<(String, String)>,
}

impl Harmless {
    pub fn read(file: &str, index: &Index) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let mut harmless = Self {
            anywhere: BTreeSet::new(),
            fields: BTreeSet::new(),
            denied: BTreeSet::new(),
        };
        let fields_of_all = || index.messages.values().flat_map(|(message, _)| &message.field);
        let known: BTreeSet<&str> = fields_of_all().map(|field| field.name()).collect();
        for line in lines(&text) {
            let error = |error| format!("{file}: {error}");
            let (head, fields) = line
                .split_once(": ")
                .ok_or_else(|| error(format!("bad line {line:?}")))?;
            for field in fields.split_whitespace() {
                if head == "any" {
                    let is_new = known.contains(field) && harmless.anywhere.insert(field.to_owned());
                    is_new
                        .then_some(())
                        .ok_or_else(|| error(format!("no field {field}, or twice")))?;
                    continue;
                }
                let (name, set) = match head.strip_prefix("not ") {
                    Some(name) => (name, &mut harmless.denied),
                    None => (head, &mut harmless.fields),
                };
                index.field(name, field).map_err(error)?;
                set.insert((name.to_owned(), field.to_owned()));
            }
        }
        Ok(harmless)
    }

    /// May the field be printed? One that holds no text of its own may, unless the list says otherwise.
    pub fn allows(&self, message: &str, field: &str, is_text: bool) -> bool {
        let place = (message.to_owned(), field.to_owned());
        let is_listed = || self.anywhere.contains(field) || self.fields.contains(&place);
        !self.denied.contains(&place) && (!is_text || is_listed())
    }
}
