//! A policy: what it matches, its expressions, and the rule that its findings have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cel::{Fault, Program, Roots, Scope, one_line};
use crate::schema::{self, Kind, SCHEMA};
use xdsctl_document::proto::pb::tables;
use xdsctl_model::diag::{Effect, Rule, Severity, SharedBy, Subject};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::text::beginning;
use xdsctl_model::wildcard::Wildcard;

/// The source that the rules of policies give.
const SOURCE: &str = "a policy of this project";

/// The most policies of a run.
pub const MAX_POLICIES: usize = 1_000;

/// The most variables of a policy.
pub const MAX_VARIABLES: usize = 100;

/// The most bytes of a message, a help text or a pattern. Each finding has a message and a help
/// text.
pub const MAX_TEXT_BYTES: usize = 4 << 10;

/// The most characters of an expression in the summary of a policy that has no message.
const SUMMARY_CHARS: usize = 60;

/// The numbers of the roots.
pub(crate) const RESOURCE: usize = 0;
pub(crate) const PARSED: usize = 1;
const WORLD: usize = 2;

/// Declares the elements: the word, the subject and the message of each.
macro_rules! elements {
    ($($(#[doc = $about:literal])* $variant:ident = $name:literal, $subject:ident, $message:literal;)*) => {
        /// What a policy is about. Each such thing that a client keeps is looked at.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Element {
            $($(#[doc = $about])* $variant,)*
        }

        impl Element {
            /// All elements, in an order in which containers come first.
            pub const ALL: [Element; [$($name),*].len()] = [$(Element::$variant),*];

            /// Returns the word for it, which is also the name of its object in the schema.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Element::$variant => $name,)*
                }
            }

            /// Returns the name of the object in the schema that is `world` for it.
            pub const fn world(self) -> &'static str {
                match self {
                    $(Element::$variant => concat!("world:", $name),)*
                }
            }

            const fn subject(self) -> Subject {
                match self {
                    $(Element::$variant => Subject::$subject,)*
                }
            }

            /// Returns the name of the message that it is in a resource.
            const fn message(self) -> &'static str {
                match self {
                    $(Element::$variant => $message,)*
                }
            }
        }
    };
}

elements! {
    /// A Listener.
    Listener = "listener", Listener, "envoy.config.listener.v3.Listener";
    /// An HTTP filter of a listener.
    Filter = "filter", Filter, "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter";
    /// A RouteConfiguration, also one inside a listener.
    RouteConfiguration = "route_configuration", RouteConfiguration, "envoy.config.route.v3.RouteConfiguration";
    /// A virtual host.
    VirtualHost = "virtual_host", RouteConfiguration, "envoy.config.route.v3.VirtualHost";
    /// A route.
    Route = "route", RouteConfiguration, "envoy.config.route.v3.Route";
    /// The retry policy that a route has.
    RetryPolicy = "retry_policy", RouteConfiguration, "envoy.config.route.v3.RetryPolicy";
    /// A Cluster.
    Cluster = "cluster", Cluster, "envoy.config.cluster.v3.Cluster";
    /// A ClusterLoadAssignment.
    Endpoints = "endpoints", Endpoints, "envoy.config.endpoint.v3.ClusterLoadAssignment";
    /// A locality.
    Locality = "locality", Endpoints, "envoy.config.endpoint.v3.LocalityLbEndpoints";
    /// An endpoint.
    Endpoint = "endpoint", Endpoints, "envoy.config.endpoint.v3.LbEndpoint";
}

impl Element {
    /// Returns the element of this name.
    ///
    /// # Errors
    /// Fails if there is none.
    pub fn parse(name: &str) -> Result<Element, String> {
        let found = Element::ALL.into_iter().find(|element| element.name() == name);
        found.ok_or_else(|| {
            let names = Element::ALL.into_iter().map(Element::name);
            match xdsctl_model::text::nearest(name, names.clone()) {
                Some(near) => format!("a policy matches no `{name}`, did you mean `{near}`?"),
                None => format!(
                    "a policy matches no `{name}`: it is {}",
                    names.collect::<Vec<_>>().join(", ")
                ),
            }
        })
    }

    /// Returns the type of the resource that contains it. Routes may also be inside a listener.
    const fn resource_type(self) -> ResourceType {
        match self.subject() {
            Subject::RouteConfiguration => ResourceType::RouteConfiguration,
            Subject::Cluster => ResourceType::Cluster,
            Subject::Endpoints => ResourceType::Endpoints,
            _ => ResourceType::Listener,
        }
    }

    /// Checks that its message may have this field.
    fn check_field(self, fields: &[String]) -> Result<(), String> {
        let mut kind = tables::message(self.message()).map_or(Kind::Any, schema::of_message);
        for field in fields {
            kind = match SCHEMA.field(&kind, field) {
                Some(found) => found?,
                None => return Err(format!("{} has no field `{field}`", kind.name())),
            };
        }
        Ok(())
    }

    /// Returns what an expression may name.
    fn scope(self) -> Scope {
        let message = tables::message(self.resource_type().type_name());
        let written = message.map_or(Kind::Any, schema::of_message);
        Scope {
            roots: vec![
                ("resource", written),
                ("parsed", Kind::Object(self.name())),
                ("world", Kind::Object(self.world())),
            ],
            variables: Vec::new(),
        }
    }
}

/// A policy as it is written.
#[derive(Debug, Clone, Default)]
pub struct PolicyText {
    /// The policy's id.
    pub id: String,
    /// What the policy matches: the word of an [`Element`].
    pub matches: String,
    /// The names of the resources that the policy is about; `*` is any text. Without it, names do
    /// not matter.
    pub name: Option<String>,
    /// The names of listeners: the policy is only about what they lead to.
    pub target: Option<String>,
    /// The expression that must be true.
    pub expression: String,
    /// The field of the matched thing that a finding points at, such as `outlier_detection`.
    pub at: Option<String>,
    /// Names with their expressions, in order.
    pub variables: Vec<(String, String)>,
    /// The message if the expression is not true.
    pub message: Option<String>,
    /// An expression that gives the message.
    pub message_expression: Option<String>,
    /// The severity of the policy's findings.
    pub severity: Option<Severity>,
    /// What the reader can do.
    pub help: Option<String>,
    /// Why the team has the policy.
    pub page: String,
    /// Where the policy is written, for people.
    pub place: String,
}

/// The part of a policy that has a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `id`.
    Id,
    /// `match`, or its `type`.
    Match,
    /// `name` in `match`.
    Name,
    /// `target` in `match`.
    Target,
    /// `at`.
    At,
    /// `expression`.
    Expression,
    /// The name of the variable with this number.
    VariableName(usize),
    /// The expression of the variable with this number.
    Variable(usize),
    /// `message`.
    Message,
    /// `messageExpression`.
    MessageExpression,
    /// `help`.
    Help,
}

/// A policy that is ready to be checked.
#[derive(Debug)]
pub struct Policy {
    /// The rule of the policy's findings.
    pub rule: &'static Rule,
    /// The kind of thing that the policy looks at.
    pub element: Element,
    pub(crate) name: Option<Wildcard>,
    pub(crate) target: Option<Wildcard>,
    /// The path of the field that a finding points at, from the matched thing on.
    pub(crate) at: Vec<String>,
    pub(crate) expression: Program,
    pub(crate) text: String,
    pub(crate) variables: Vec<Program>,
    pub(crate) variable_texts: Vec<String>,
    pub(crate) message: Option<String>,
    /// The expression for the message, with its text.
    pub(crate) message_expression: Option<(Program, String)>,
    pub(crate) help: Option<String>,
    /// How many places the policy has looked at.
    pub(crate) looked: AtomicUsize,
    /// How many times the expression for the message failed.
    pub(crate) unsaid: AtomicUsize,
}

/// The policies of a run.
#[derive(Debug, Default)]
pub struct Policies {
    /// The policies, in the order in which they are written.
    pub list: Vec<Policy>,
}

impl Policies {
    /// Says whether a policy asks which client it is. If so, each client has to be asked, whatever
    /// they keep.
    pub fn ask_for_client(&self) -> bool {
        self.list.iter().any(|policy| policy.roots().has_client())
    }

    /// Returns the rules of their findings.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.list.iter().map(|policy| policy.rule)
    }
}

impl Policy {
    /// Makes a policy ready: reads its expressions, and looks up every name in them.
    ///
    /// Its rule is kept until the process ends, as xdsctl's own rules are.
    ///
    /// # Errors
    /// Fails with the part that has a fault, and with the fault and its place in that text.
    pub fn new(text: PolicyText) -> Result<Policy, (Part, Fault)> {
        let whole = |part: Part, of: &str, message: String| {
            let span = 0..of.len();
            (part, Fault { message, span })
        };
        let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let starts = text.id.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || text.id.ends_with('-') || !text.id.contains('-') || !text.id.chars().all(is_id) {
            let message = "an id has small letters, digits and hyphens, one of these at least, as in team-no-deadline";
            return Err(whole(Part::Id, &text.id, message.to_owned()));
        }
        let element = Element::parse(&text.matches).map_err(|why| whole(Part::Match, &text.matches, why))?;
        for (part, of) in [
            (Part::Name, &text.name),
            (Part::Target, &text.target),
            (Part::Message, &text.message),
            (Part::Help, &text.help),
        ] {
            if let Some(of) = of.as_ref().filter(|of| of.len() > MAX_TEXT_BYTES) {
                return Err(whole(part, of, format!("more than {MAX_TEXT_BYTES} bytes, the limit")));
            }
        }
        let at: Vec<String> = match &text.at {
            Some(at) => at.split('.').map(str::to_owned).collect(),
            None => Vec::new(),
        };
        element
            .check_field(&at)
            .map_err(|why| whole(Part::At, text.at.as_deref().unwrap_or_default(), why))?;
        let mut scope = element.scope();
        let mut variables: Vec<Program> = Vec::new();
        for (number, (name, expression)) in text.variables.iter().enumerate() {
            if number >= MAX_VARIABLES {
                let message = format!("more than {MAX_VARIABLES} variables, the limit");
                return Err(whole(Part::VariableName(number), name, message));
            }
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_known = scope.variables.iter().any(|(known, _)| known == name);
            if is_known || name.is_empty() || !name.chars().all(is_name) {
                let message = "the name of a variable has letters, digits and `_`, and is there once";
                return Err(whole(Part::VariableName(number), name, message.to_owned()));
            }
            let program = Program::new(expression, &scope, &variables);
            let program = program.map_err(|fault| (Part::Variable(number), fault))?;
            scope.variables.push((name.clone(), program.kind.clone()));
            variables.push(program);
        }
        let expression = Program::of_kind(&text.expression, &scope, &variables, &Kind::Bool);
        let expression = expression.map_err(|fault| (Part::Expression, fault))?;
        if expression.roots == Roots::default() {
            let message = "the expression looks at nothing: it is the same for every resource".to_owned();
            return Err(whole(Part::Expression, &text.expression, message));
        }
        let message_expression = text.message_expression.as_deref().map(|of| {
            let program = Program::of_kind(of, &scope, &variables, &Kind::Text);
            let program = program.map_err(|fault| (Part::MessageExpression, fault))?;
            Ok((program, of.to_owned()))
        });
        Ok(Policy {
            rule: rule(&text, element),
            element,
            name: text.name.map(Wildcard::new),
            target: text.target.map(Wildcard::new),
            at,
            expression,
            message_expression: message_expression.transpose()?,
            variables,
            variable_texts: text.variables.into_iter().map(|(_, text)| text).collect(),
            text: text.expression,
            message: text.message,
            help: text.help,
            looked: AtomicUsize::new(0),
            unsaid: AtomicUsize::new(0),
        })
    }

    /// Returns the roots that its expressions look at.
    fn roots(&self) -> Roots {
        let of_message = self.message_expression.as_ref().map(|(program, _)| program.roots);
        self.expression.roots.and(of_message.unwrap_or_default())
    }

    /// Says whether it asks what leads where.
    pub(crate) fn looks_at_world(&self) -> bool {
        self.target.is_some() || self.roots().has(WORLD)
    }

    /// Returns the fields of `resource` that it looks at; `None` for all of them.
    pub(crate) fn written(&self) -> Option<impl Iterator<Item = &String>> {
        let programs = [&self.expression].into_iter().chain(&self.variables);
        let programs = programs.chain(self.message_expression.as_ref().map(|(program, _)| program));
        let fields: Option<Vec<_>> = programs.map(|program| program.first.as_ref()).collect();
        Some(fields?.into_iter().flatten())
    }

    /// Returns at how many places it was checked so far.
    pub fn looked(&self) -> usize {
        self.looked.load(Ordering::Relaxed)
    }

    /// Returns how many findings so far have a replacement message, because the messageExpression
    /// gave none.
    pub fn unsaid(&self) -> usize {
        self.unsaid.load(Ordering::Relaxed)
    }
}

/// Returns the rule of a policy's findings.
fn rule(text: &PolicyText, element: Element) -> &'static Rule {
    /// The rules, by all that they say: the page says what a policy looks at.
    static RULES: Mutex<BTreeMap<RuleKey, &Rule>> = Mutex::new(BTreeMap::new());
    /// Keeps each text once, because an editor reads the same policies again and again.
    fn kept(text: String) -> &'static str {
        static KNOWN: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(text.as_str()) {
            return text;
        }
        let text: &'static str = Box::leak(text.into_boxed_str());
        known.insert(text);
        text
    }
    let summary = match &text.message {
        Some(message) => message.split_whitespace().collect::<Vec<_>>().join(" "),
        None => format!(
            "A policy: each {} has `{}`",
            element.name(),
            beginning(&one_line(&text.expression), SUMMARY_CHARS)
        ),
    };
    let (id, page) = (kept(text.id.clone()), kept(page(text, element)));
    let (summary, source) = (kept(summary), kept(format!("{SOURCE}, {}", text.place)));
    let severity = text.severity.unwrap_or(Severity::Warning);
    let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = rules.entry((id, page, summary, source, severity));
    known.or_insert_with(|| {
        Box::leak(Box::new(Rule {
            id,
            page,
            summary,
            subject: element.subject(),
            effect: Effect::Advice,
            severity,
            source,
            // A policy is checked for each client by itself.
            shared: SharedBy { families: &[], why: "" },
        }))
    })
}

/// The key of a rule: id, page, summary, source, severity.
type RuleKey = (&'static str, &'static str, &'static str, &'static str, Severity);

/// Says whether a rule belongs to a policy.
pub fn is_policy(rule: &Rule) -> bool {
    rule.source.starts_with(SOURCE)
}

/// Writes the page that `explain` prints.
fn page(text: &PolicyText, element: Element) -> String {
    use fmt::Write as _;
    let mut page = String::new();
    page.push_str("## Why\n");
    let _ = match text.page.trim() {
        "" => writeln!(page, "This is a policy of the project, and no rule of gRPC."),
        why => writeln!(page, "{why}"),
    };
    let _ = write!(page, "\nIt looks at each {}", element.name());
    if let Some(name) = &text.name {
        let _ = write!(page, " of resources named `{name}`");
    }
    if let Some(target) = &text.target {
        let _ = write!(page, " that the listeners `{target}` lead to");
    }
    let _ = write!(page, ", and expects:\n\n```text\n{}\n```\n", text.expression.trim());
    for (name, expression) in &text.variables {
        let _ = write!(
            page,
            "\n`variables.{name}` is:\n\n```text\n{}\n```\n",
            expression.trim()
        );
    }
    if let Some(help) = &text.help {
        let _ = write!(page, "\n## Fix\n\n{help}\n");
    }
    page
}
