//! `xdsctl policy new`: a policy about what stands in a line, to start from.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::args::{PolicyNewArgs, WorldMode};
use crate::io::input::{self, InputPlan};
use crate::{Error, Io};
use xdsctl_channel::client::{Checked, Keep, WorldSet};
use xdsctl_document::source::{Source, SourceMap};
use xdsctl_model::diag::FieldPath;
use xdsctl_model::profile::Fleet;
use xdsctl_policy::schema::{Kind, SCHEMA};
use xdsctl_policy::{Element, Policies, Policy, PolicyInput, PolicyText, places};

/// Objects inside each other that are searched for a field.
const LEVELS: usize = 4;

pub(super) fn run(args: &PolicyNewArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let refused = || {
        Error::Usage(format!(
            "--from takes FILE:LINE, as in xds/routes.yaml:12, and not `{}`",
            args.from
        ))
    };
    let (file, line) = args.from.rsplit_once(':').ok_or_else(refused)?;
    let line: usize = line.parse().map_err(|_| refused())?;
    let plan = InputPlan {
        files: vec![PathBuf::from(file)],
        world: WorldMode::All,
        ..InputPlan::default()
    };
    let mut inputs = input::open_plan(plan, Fleet::default(), io)?;
    let world_set = inputs.read_worlds(Keep::Parsed, io)?;
    let found = place(&world_set, &inputs.sources, line).ok_or_else(|| {
        Error::Usage(format!(
            "no resource that a gRPC client takes stands in line {line} of `{file}`"
        ))
    })?;
    let text = found.written(file, line, &world_set, &inputs.sources);
    write!(io.out, "{text}")?;
    Ok(0)
}

/// What stands in a line.
struct FoundPlace {
    element: Element,
    path: FieldPath,
    /// The field of the line, from `parsed` on, and its kind.
    field: Option<(String, Kind)>,
}

/// The last place that begins in the line or before it, of the resource that has the line.
fn place(world_set: &WorldSet, sources: &SourceMap, line: usize) -> Option<FoundPlace> {
    let holds = |checked: &&Checked| {
        let source = sources.get(checked.origin.source);
        let span = checked.origin.span;
        source.is_some_and(|source| {
            let (first, last) = (source.line_column(span.start).line, source.line_column(span.end).line);
            (first..=last).contains(&line) && checked.parsed.is_some()
        })
    };
    let checked = world_set.resources.iter().find(holds)?;
    let source = sources.get(checked.origin.source)?;
    let all = places(checked.parsed.as_deref()?);
    let paths: Vec<&FieldPath> = all.iter().map(|(_, path)| path).collect();
    let spans = source.locate_all(checked.origin.span, &paths);
    let starts = spans.iter().map(|span| source.line_column(span.start).line);
    let before = all.iter().zip(starts).filter(|(_, start)| *start <= line);
    let ((element, path), _) = before.max_by_key(|(_, start)| *start)?;
    let field = word(source, line).and_then(|word| {
        let own = field(element.name(), &word, "parsed", 0);
        own.filter(|_| *element != Element::RouteConfiguration)
    });
    Some(FoundPlace {
        element: *element,
        path: path.clone(),
        field,
    })
}

/// The key that a line begins with.
fn word(source: &Source, line: usize) -> Option<String> {
    let text = String::from_utf8_lossy(source.bytes());
    let text = text.lines().nth(line.checked_sub(1)?)?.to_owned();
    let text = text.trim_start_matches([' ', '-', '{', '"', '\'']);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    Some(text.get(..end)?.to_owned()).filter(|word| !word.is_empty())
}

/// Where an object of the schema, or one in it, has a field of this name.
fn field(object: &str, name: &str, at: &str, level: usize) -> Option<(String, Kind)> {
    let own = SCHEMA.fields(object).find(|(known, _)| *known == name);
    if let Some((_, kind)) = own {
        return Some((format!("{at}.{name}"), kind.clone()));
    }
    if level >= LEVELS {
        return None;
    }
    SCHEMA.fields(object).find_map(|(inner, kind)| match kind {
        Kind::Object(of) => field(of, name, &format!("{at}.{inner}"), level + 1),
        _ => None,
    })
}

impl FoundPlace {
    fn written(&self, file: &str, line: usize, world_set: &WorldSet, sources: &SourceMap) -> String {
        let element = self.element.name();
        let (expression, about) = match &self.field {
            Some((field, kind)) => {
                let now = self.value(field, kind, world_set, sources);
                (expression(field, kind, now.as_deref()), field.clone())
            }
            None => ("parsed != null".to_owned(), "parsed".to_owned()),
        };
        let names: Vec<&str> = SCHEMA.fields(element).map(|(name, _)| name).collect();
        let name = Path::new(file)
            .file_name()
            .map_or(file.into(), |name| name.to_string_lossy());
        let mut text = String::new();
        let short = about.rsplit('.').next().unwrap_or("parsed").replace('_', "-");
        let _ = writeln!(
            text,
            "# From {file}:{line}. `parsed` is the {element} as the client keeps it: {}.",
            names.join(", ")
        );
        let _ = writeln!(
            text,
            "# `xdsctl policy test FILE` runs the cases, `xdsctl policy schema` has every field."
        );
        let _ = writeln!(
            text,
            "[[policy]]\nid = \"team-{}-{short}\"\nmatch = \"{element}\"",
            element.replace('_', "-")
        );
        let _ = writeln!(text, "expression = '''{expression}'''");
        let _ = writeln!(
            text,
            "message = \"what is wrong if the expression is false\"\nseverity = \"warning\""
        );
        let _ = writeln!(text, "\n[[policy.accepted]]\nfiles = [\"{name}\"]\n");
        let _ = writeln!(
            text,
            "# The same with a fault, so that it is known that the policy finds one."
        );
        let _ = writeln!(
            text,
            "[[policy.rejected]]\nfiles = [\"other-{name}\"]\n# at = [\"{}\"]",
            self.path
        );
        text
    }

    /// What the field is now, as a text.
    fn value(&self, field: &str, kind: &Kind, world_set: &WorldSet, sources: &SourceMap) -> Option<String> {
        if !matches!(
            kind,
            Kind::Bool | Kind::Int | Kind::Double | Kind::Text | Kind::Duration
        ) {
            return None;
        }
        let policy = Policy::new(PolicyText {
            id: "policy-new".to_owned(),
            matches: self.element.name().to_owned(),
            expression: "parsed == null".to_owned(),
            message_expression: Some(format!("string({field})")),
            ..PolicyText::default()
        });
        let policies = Policies {
            list: vec![policy.ok()?],
        };
        let input = PolicyInput {
            policies: &policies,
            sources,
            shows_secrets: false,
        };
        let found = world_set
            .worlds
            .iter()
            .flat_map(|world| xdsctl_policy::check(world, &world_set.resources, input));
        let mut found = found.filter(|(_, found)| found.path == self.path);
        let message = found.next()?.1.message;
        (!message.contains("messageExpression")).then_some(message)
    }
}

/// An expression that is true of what stands there.
fn expression(field: &str, kind: &Kind, now: Option<&str>) -> String {
    // Not every one of its kind has what it stands in.
    let may_lack = match field.matches('.').count() > 1 {
        true => format!("!has({field}) || "),
        false => String::new(),
    };
    let expression = match (kind, now) {
        (Kind::Bool, Some("true")) => field.to_owned(),
        (Kind::Bool, Some(_)) => format!("!{field}"),
        (Kind::Int | Kind::Double, Some(now)) => format!("{field} <= {now}"),
        (Kind::Duration, Some(now)) => format!("{field} <= duration('{now}')"),
        (Kind::Text, Some(now)) if !now.contains(['\'', '\\']) => format!("{field} == '{now}'"),
        (Kind::List(_), _) => format!("{field}.size() > 0"),
        _ => format!("has({field})"),
    };
    match expression.starts_with("has(") {
        true => expression,
        false => may_lack + &expression,
    }
}
