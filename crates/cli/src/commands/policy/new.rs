//! `xdsctl policy new`: writes a policy about the field on a line, to start from.
//!
//! The present value satisfies the policy. Its cases are the resource, and a copy with one value
//! changed, which the policy rejects. Each case was run before it is printed. If no change of one
//! value will do, the rejected case is left open, and `policy test` fails until somebody has
//! written it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::change::changes;
use super::test::judge;
use crate::args::{PolicyNewArgs, WorldMode};
use crate::config::policies::{Case, CaseTable};
use crate::io::input::{self, InputPlan};
use crate::{Error, Io};
use xdsctl_channel::client::{Checked, Keep, WorldSet};
use xdsctl_document::source::{Source, SourceMap};
use xdsctl_model::diag::{FieldPath, Seg};
use xdsctl_model::profile::Fleet;
use xdsctl_policy::schema::{Kind, SCHEMA};
use xdsctl_policy::{Element, Policies, Policy, PolicyInput, PolicyText, places, pointer, written};
use xdsctl_report::edge::is_plain;

/// The number of nested objects that are searched for a field.
const LEVELS: usize = 4;

/// The most bytes of a resource that becomes a case.
const MAX_CASE_BYTES: usize = 64 << 10;

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
    let text = found.written(&format!("{file}:{line}"), &world_set, &inputs.sources);
    write!(io.out, "{text}")?;
    Ok(0)
}

/// What was found on a line.
struct FoundPlace<'w> {
    checked: &'w Checked,
    element: Element,
    path: FieldPath,
    /// The field that the policy is about, as an expression that begins with `parsed`, and its
    /// kind.
    field: (String, Kind),
    /// The name of the field in the resource.
    key: String,
}

/// Returns the last element that begins on the line or before it, in the resource around the line.
fn place<'w>(world_set: &'w WorldSet, sources: &SourceMap, line: usize) -> Option<FoundPlace<'w>> {
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
    let of_line = word(source, line).and_then(|word| Some((field(element.name(), &word, "parsed", 0)?, word)));
    let (field, key) = of_line.unwrap_or_else(|| usual(*element));
    Some(FoundPlace {
        checked,
        element: *element,
        path: path.clone(),
        field,
        key,
    })
}

/// Returns the key at the beginning of a line.
fn word(source: &Source, line: usize) -> Option<String> {
    let text = String::from_utf8_lossy(source.bytes());
    let text = text.lines().nth(line.checked_sub(1)?)?.to_owned();
    let text = text.trim_start_matches([' ', '-', '{', '"', '\'']);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    Some(text.get(..end)?.to_owned()).filter(|word| !word.is_empty())
}

/// Returns the path of the field with this name in an object of the schema, or in an object inside
/// it.
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

/// Returns the field for a policy if the line has no field that a client reads, and the name of
/// that field in a resource.
fn usual(element: Element) -> ((String, Kind), String) {
    let (field, kind) = match element {
        Element::RetryPolicy => ("num_retries", Kind::Int),
        Element::Endpoint => ("load_balancing_weight", Kind::Int),
        Element::Locality => return (("parsed.locality.region".to_owned(), Kind::Text), "region".to_owned()),
        Element::Endpoints => return (("parsed.name".to_owned(), Kind::Text), "cluster_name".to_owned()),
        _ => ("name", Kind::Text),
    };
    ((format!("parsed.{field}"), kind), field.to_owned())
}

impl FoundPlace<'_> {
    fn written(&self, from: &str, world_set: &WorldSet, sources: &SourceMap) -> String {
        let element = self.element.name();
        let (field, kind) = &self.field;
        let expression = expression(element, field, kind, self.value(world_set, sources).as_deref());
        let names: Vec<&str> = SCHEMA.fields(element).map(|(name, _)| name).collect();
        let short = field.rsplit('.').next().unwrap_or("parsed").replace('_', "-");
        let id = format!("team-{}-{short}", element.replace('_', "-"));
        let mut text = String::new();
        let _ = writeln!(
            text,
            "# From {from}. `parsed` is the {element} as the client keeps it: {}.",
            names.join(", ")
        );
        let _ = writeln!(
            text,
            "# `xdsctl policy test FILE` runs the cases, `xdsctl policy schema` has every field."
        );
        let _ = writeln!(text, "[[policy]]\nid = \"{id}\"\nmatch = \"{element}\"");
        let _ = writeln!(text, "expression = '''{expression}'''");
        let _ = writeln!(
            text,
            "message = \"what is wrong if the expression is false\"\nseverity = \"warning\""
        );
        let policy = Policy::new(PolicyText {
            id,
            matches: element.to_owned(),
            expression,
            ..PolicyText::default()
        });
        let policies = Policies {
            list: policy.into_iter().collect(),
        };
        let resource = written(self.checked, sources, true);
        let found = resource.and_then(|resource| cases(&policies, &resource, self));
        let _ = match &found {
            Some(Found { accepted, .. }) => writeln!(text, "\n[[policy.accepted]]\nyaml = '''\n{accepted}\n'''"),
            None => writeln!(
                text,
                "\n# To be written: a resource in which the policy finds nothing.\n[[policy.accepted]]\nyaml = ''"
            ),
        };
        let rejected = found.and_then(|found| Some((found.at, found.rejected?)));
        let _ = match rejected {
            Some((at, rejected)) => writeln!(
                text,
                "\n# One value is another one here: put in what you want to be told of.\n[[policy.rejected]]\nat = [\"{at}\"]\n\
                 yaml = '''\n{rejected}\n'''"
            ),
            None => writeln!(
                text,
                "\n# To be written: a resource in which the policy finds something. Until then `policy test` fails.\n\
                 [[policy.rejected]]\nyaml = ''"
            ),
        };
        text
    }

    /// Returns the present value of the field as a text; for a list, its first element.
    fn value(&self, world_set: &WorldSet, sources: &SourceMap) -> Option<String> {
        let value = match &self.field {
            (field, Kind::Bool | Kind::Int | Kind::Double | Kind::Text | Kind::Word(_) | Kind::Duration) => {
                format!("string({field})")
            }
            (field, Kind::List(of)) if **of == Kind::Text => format!("{field}[0]"),
            _ => return None,
        };
        let policy = Policy::new(PolicyText {
            id: "policy-new".to_owned(),
            matches: self.element.name().to_owned(),
            expression: "parsed == null".to_owned(),
            message_expression: Some(value),
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
        let mut found = found.filter(|(number, found)| {
            let is_same = |checked: &Checked| std::ptr::eq(checked, self.checked);
            found.path == self.path && world_set.resources.get(*number).is_some_and(is_same)
        });
        let message = found.next()?.1.message;
        (!message.contains("messageExpression")).then_some(message)
    }
}

/// Returns the last part of the path from `parsed` to a field that may be absent.
fn absent<'f>(element: &'static str, field: &'f str) -> Option<&'f str> {
    let mut kind = Kind::Object(element);
    let mut absent = None;
    let mut end = field.find('.')?;
    for name in field.get(end + 1..)?.split('.') {
        end += 1 + name.len();
        if !SCHEMA.is_always_there(&kind, name) {
            absent = field.get(..end);
        }
        kind = SCHEMA.field(&kind, name)?.ok()?;
    }
    absent
}

/// Returns an expression that is true for the present value.
fn expression(element: &'static str, field: &str, kind: &Kind, now: Option<&str>) -> String {
    // Other resources of this kind may lack the object around the field.
    let may_lack = match absent(element, field) {
        Some(absent) => format!("!has({absent}) || "),
        None => String::new(),
    };
    let is_quotable = |now: &str| now.chars().all(|c| is_plain(c) && !matches!(c, '\'' | '\\' | '\n'));
    let expression = match (kind, now) {
        (Kind::Bool, Some("true")) => field.to_owned(),
        (Kind::Bool, Some(_)) => format!("!{field}"),
        (Kind::Int | Kind::Double, Some(now)) => format!("{field} <= {now}"),
        (Kind::Duration, Some(now)) => format!("{field} <= duration('{now}')"),
        (Kind::Text | Kind::Word(_), Some(now)) if is_quotable(now) => format!("{field} == '{now}'"),
        (Kind::List(_), Some(first)) if is_quotable(first) => format!("'{first}' in {field}"),
        (Kind::List(_), _) => format!("{field}.size() > 0"),
        _ => match absent(element, field) == Some(field) {
            true => return format!("has({field})"),
            false => format!("{field} != null"),
        },
    };
    may_lack + &expression
}

/// The cases of a new policy, which were run.
struct Found {
    accepted: String,
    at: String,
    rejected: Option<String>,
}

/// Returns the resource, shortened if possible, and a changed copy that the policy rejects.
fn cases(policies: &Policies, resource: &Json, place: &FoundPlace<'_>) -> Option<Found> {
    let mut typed = resource.clone();
    let type_name = place.checked.resource_type?.type_name();
    if let Some(fields) = typed.as_object_mut() {
        fields.insert("@type".to_owned(), json!(format!("type.googleapis.com/{type_name}")));
    }
    let whole = (typed.clone(), place.path.to_string(), pointer(&place.path));
    let (json, at, pointer) = [alone(typed, &place.path), whole]
        .into_iter()
        .find(|(json, ..)| is_as_said(policies, json, None))?;
    let accepted = text_of(&json)?;
    let changed = changes(&json, &pointer, &place.key);
    let mut found = changed.into_iter().filter(|json| is_as_said(policies, json, Some(&at)));
    Some(Found {
        accepted,
        rejected: found.next().as_ref().and_then(text_of),
        at,
    })
}

/// Says whether the policy accepts the resource; with `rejected_at`, whether it rejects it there.
fn is_as_said(policies: &Policies, json: &Json, rejected_at: Option<&str>) -> bool {
    let (Some(text), Some(policy)) = (text_of(json), policies.list.first()) else {
        return false;
    };
    let case = Case {
        policy: 0,
        is_accepted: rejected_at.is_none(),
        table: CaseTable {
            at: rejected_at.map(str::to_owned).into_iter().collect(),
            ..CaseTable::default()
        },
        client: None,
        span: 0..0,
    };
    let plan = InputPlan {
        world: WorldMode::All,
        ..InputPlan::default()
    };
    let inputs = input::of_text(plan, Fleet::default(), "case.yaml", text.into_bytes());
    inputs.is_ok_and(|inputs| judge(&case, policy, policies, inputs).is_ok_and(|failures| failures.is_empty()))
}

/// Returns the text of a case; `None` if it would be too long, or needs escapes in TOML.
fn text_of(json: &Json) -> Option<String> {
    let text = serde_json::to_string_pretty(json).ok()?;
    let fits = text.len() <= MAX_CASE_BYTES && !text.contains("'''") && text.chars().all(|c| is_plain(c) || c == '\n');
    fits.then_some(text)
}

/// Returns the resource with only the needed elements in the lists on the way to a place, and the
/// new path and pointer of the place.
fn alone(mut json: Json, place: &FieldPath) -> (Json, String, String) {
    let (mut path, mut pointer) = (String::new(), String::new());
    for step in place.segs() {
        match step {
            Seg::Field(name) => {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{name}");
                let _ = write!(pointer, "/{name}");
            }
            Seg::Index(number) => {
                if let Some(Json::Array(list)) = json.pointer_mut(&pointer) {
                    *list = list.drain(..).skip(number).take(1).collect();
                }
                path.push_str("[0]");
                pointer.push_str("/0");
            }
            Seg::Value { type_name, .. } => {
                let _ = write!(path, ".value[{type_name}]");
            }
            Seg::Key(_) | Seg::JsonKey(_) | Seg::Quoted(_) => {}
        }
    }
    (json, path, pointer)
}
