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

/// Where the behaviour of a policy comes from.
const SOURCE: &str = "a policy of this project";

/// Policies of a run.
pub const MAX_POLICIES: usize = 1_000;

/// Variables of a policy.
pub const MAX_VARIABLES: usize = 100;

/// Bytes of a message, a help and a pattern: each finding has a message and a help.
pub const MAX_TEXT_BYTES: usize = 4 << 10;

/// Characters of an expression that stand in the summary of a policy that has no message.
const SUMMARY_CHARS: usize = 60;

/// The numbers of the roots.
pub(crate) const RESOURCE: usize = 0;
pub(crate) const PARSED: usize = 1;
const WORLD: usize = 2;

/// What a policy is about: each one of these that a client keeps is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A Listener.
    Listener,
    /// An HTTP filter of a listener.
    Filter,
    /// A RouteConfiguration, also one that stands in a listener.
    RouteConfiguration,
    /// A virtual host.
    VirtualHost,
    /// A route.
    Route,
    /// The retry policy that a route has.
    RetryPolicy,
    /// A Cluster.
    Cluster,
    /// A ClusterLoadAssignment.
    Endpoints,
    /// A locality.
    Locality,
    /// An endpoint.
    Endpoint,
}

impl Element {
    /// All of them, what holds others first.
    pub const ALL: [Element; 10] = [
        Element::Listener,
        Element::Filter,
        Element::RouteConfiguration,
        Element::VirtualHost,
        Element::Route,
        Element::RetryPolicy,
        Element::Cluster,
        Element::Endpoints,
        Element::Locality,
        Element::Endpoint,
    ];

    /// The word for it, which is also the name of its object in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Element::Listener => "listener",
            Element::Filter => "filter",
            Element::RouteConfiguration => "route_configuration",
            Element::VirtualHost => "virtual_host",
            Element::Route => "route",
            Element::RetryPolicy => "retry_policy",
            Element::Cluster => "cluster",
            Element::Endpoints => "endpoints",
            Element::Locality => "locality",
            Element::Endpoint => "endpoint",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none.
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

    /// The name of the object in the schema that `world` is for it.
    pub const fn world(self) -> &'static str {
        match self {
            Element::Listener => "world:listener",
            Element::Filter => "world:filter",
            Element::RouteConfiguration => "world:route_configuration",
            Element::VirtualHost => "world:virtual_host",
            Element::Route => "world:route",
            Element::RetryPolicy => "world:retry_policy",
            Element::Cluster => "world:cluster",
            Element::Endpoints => "world:endpoints",
            Element::Locality => "world:locality",
            Element::Endpoint => "world:endpoint",
        }
    }

    const fn subject(self) -> Subject {
        match self {
            Element::Listener => Subject::Listener,
            Element::Filter => Subject::Filter,
            Element::RouteConfiguration | Element::VirtualHost | Element::Route | Element::RetryPolicy => {
                Subject::RouteConfiguration
            }
            Element::Cluster => Subject::Cluster,
            Element::Endpoints | Element::Locality | Element::Endpoint => Subject::Endpoints,
        }
    }

    /// The type of the resource that it stands in; routes may stand in a listener too.
    const fn resource_type(self) -> ResourceType {
        match self.subject() {
            Subject::RouteConfiguration => ResourceType::RouteConfiguration,
            Subject::Cluster => ResourceType::Cluster,
            Subject::Endpoints => ResourceType::Endpoints,
            _ => ResourceType::Listener,
        }
    }

    /// The message that it is in a resource.
    const fn message(self) -> &'static str {
        match self {
            Element::Filter => "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
            Element::VirtualHost => "envoy.config.route.v3.VirtualHost",
            Element::Route => "envoy.config.route.v3.Route",
            Element::RetryPolicy => "envoy.config.route.v3.RetryPolicy",
            Element::Locality => "envoy.config.endpoint.v3.LocalityLbEndpoints",
            Element::Endpoint => "envoy.config.endpoint.v3.LbEndpoint",
            Element::Listener | Element::RouteConfiguration | Element::Cluster | Element::Endpoints => {
                self.resource_type().type_name()
            }
        }
    }

    /// Checks that a resource may have a field there.
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

    /// What an expression may name.
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
    /// Its id.
    pub id: String,
    /// What it matches: the word of an [`Element`].
    pub matches: String,
    /// Only resources of these names; `*` is any text.
    pub name: Option<String>,
    /// Only what the listeners of these names lead to.
    pub target: Option<String>,
    /// What must be true.
    pub expression: String,
    /// The field of what is matched that a finding points at, such as `outlier_detection`.
    pub at: Option<String>,
    /// Names with their expressions, in order.
    pub variables: Vec<(String, String)>,
    /// What is said if it is not.
    pub message: Option<String>,
    /// An expression for what is said.
    pub message_expression: Option<String>,
    /// How loud that is.
    pub severity: Option<Severity>,
    /// What the reader can do.
    pub help: Option<String>,
    /// Why the team has the policy.
    pub page: String,
    /// Where it stands, for people.
    pub place: String,
}

/// The part of a policy in which something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `id`.
    Id,
    /// `match`, or its `type`.
    Match,
    /// `name` of it.
    Name,
    /// `target` of it.
    Target,
    /// `at`.
    At,
    /// `expression`.
    Expression,
    /// The variable of this number: its name.
    VariableName(usize),
    /// The same: its expression.
    Variable(usize),
    /// `message`.
    Message,
    /// `messageExpression`.
    MessageExpression,
    /// `help`.
    Help,
}

/// A policy that is ready.
#[derive(Debug)]
pub struct Policy {
    /// The rule of its findings.
    pub rule: &'static Rule,
    /// What it looks at.
    pub element: Element,
    pub(crate) name: Option<Wildcard>,
    pub(crate) target: Option<Wildcard>,
    /// The fields on the way to the one that a finding points at.
    pub(crate) at: Vec<String>,
    pub(crate) expression: Program,
    pub(crate) text: String,
    pub(crate) variables: Vec<Program>,
    pub(crate) variable_texts: Vec<String>,
    pub(crate) message: Option<String>,
    /// With its text.
    pub(crate) message_expression: Option<(Program, String)>,
    pub(crate) help: Option<String>,
    /// Places that were looked at.
    pub(crate) looked: AtomicUsize,
    /// Messages that the messageExpression did not give.
    pub(crate) unsaid: AtomicUsize,
}

/// The policies of a run.
#[derive(Debug, Default)]
pub struct Policies {
    /// In the order in which they are written.
    pub list: Vec<Policy>,
}

impl Policies {
    /// Says whether one of them asks which client it is: clients that keep the same are not the same
    /// then.
    pub fn ask_for_client(&self) -> bool {
        self.list.iter().any(Policy::asks_for_client)
    }

    /// The rules of their findings.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.list.iter().map(|policy| policy.rule)
    }
}

impl Policy {
    /// Makes a policy ready: reads its expressions, and looks up every name in them.
    ///
    /// Its rule is kept until the process ends, as those of xdsctl are.
    ///
    /// # Errors
    /// The part in which something is wrong, what, and where in its text.
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

    /// Says whether it asks which client it is, so that each has to be asked, whatever they keep.
    fn asks_for_client(&self) -> bool {
        let of_message = self.message_expression.as_ref().map(|(program, _)| program.roots);
        let all = [Some(self.expression.roots), of_message];
        all.into_iter().flatten().any(Roots::has_client)
    }

    /// Says whether it asks who leads where.
    pub(crate) fn looks_at_world(&self) -> bool {
        let of_message = self.message_expression.as_ref().map(|(program, _)| program.roots);
        let all = [Some(self.expression.roots), of_message];
        self.target.is_some() || all.into_iter().flatten().any(|roots| roots.has(WORLD))
    }

    /// The fields of `resource` that it looks at; `None` for all of them.
    pub(crate) fn written(&self) -> Option<impl Iterator<Item = &String>> {
        let programs = [&self.expression].into_iter().chain(&self.variables);
        let programs = programs.chain(self.message_expression.as_ref().map(|(program, _)| program));
        let fields: Option<Vec<_>> = programs.map(|program| program.first.as_ref()).collect();
        Some(fields?.into_iter().flatten())
    }

    /// How many places it was held against so far.
    pub fn looked(&self) -> usize {
        self.looked.load(Ordering::Relaxed)
    }

    /// How many findings have another message so far, because the expression for it gave none.
    pub fn unsaid(&self) -> usize {
        self.unsaid.load(Ordering::Relaxed)
    }
}

/// The rule of a policy's findings.
fn rule(text: &PolicyText, element: Element) -> &'static Rule {
    /// By all that they say: the page says what a policy looks at.
    static RULES: Mutex<BTreeMap<RuleKey, &Rule>> = Mutex::new(BTreeMap::new());
    /// An editor reads the same policies again and again: what is kept of each text is kept once.
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
            // It is asked of each client by itself.
            shared: SharedBy { families: &[], why: "" },
        }))
    })
}

/// What a rule is known by: id, page, summary, source, severity.
type RuleKey = (&'static str, &'static str, &'static str, &'static str, Severity);

/// Says whether a rule is that of a policy.
pub fn is_policy(rule: &Rule) -> bool {
    rule.source.starts_with(SOURCE)
}

/// The page that `explain` prints.
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
