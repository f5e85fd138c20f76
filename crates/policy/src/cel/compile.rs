//! From a tree to a program: every name is looked up, and a name that is not found is an error at
//! its place.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Fault;
use super::functions::{self, Function};
use super::kinds::{DURATION, always_there, check_words, is_written, joined, of_binary};
use super::syntax::{Expr, ExprKind, MAX_DEPTH, Name, Operator, parse, too_deep};
use super::value::nanoseconds;
use crate::schema::{Kind, SCHEMA};
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::text;
use xdsctl_re2::Regex;

/// What an expression may name.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The roots by name. A program asks for a root by its index in this list.
    pub roots: Vec<(&'static str, Kind)>,
    /// The `variables` that are known so far.
    pub variables: Vec<(String, Kind)>,
}

/// The bit for `world.client`.
const CLIENT: u8 = 1 << 7;

/// The roots that a program looks at, a bit for each, and a bit for the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Roots(u8);

impl Roots {
    /// Says whether the root of this number is among them.
    pub const fn has(self, root: usize) -> bool {
        self.0 >> root & 1 == 1
    }

    /// Says whether the program asks which client it is.
    pub const fn has_client(self) -> bool {
        self.0 & CLIENT != 0
    }

    /// Returns these roots and others.
    #[must_use]
    pub const fn and(self, other: Roots) -> Roots {
        Roots(self.0 | other.0)
    }
}

/// An expression that is ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) node: Node,
    /// The kind of its value.
    pub kind: Kind,
    /// The roots that it looks at, also through variables.
    pub roots: Roots,
    /// The fields of the first root that it looks at itself; `None` if it looks at all of it.
    pub first: Option<BTreeSet<String>>,
    /// The depth to which parts are nested, counting those of variables.
    depth: usize,
}

/// A part of a program, with its place in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub step: Step,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Box<str>),
    Duration(i128),
    Root(usize),
    Local(usize),
    Variable(usize),
    Select(Box<Node>, Box<str>),
    Has(Box<Node>, Box<str>),
    Index(Box<[Node; 2]>),
    Not(Box<Node>),
    Negate(Box<Node>),
    /// All of these must hold, or with `false` any of them.
    Chain(bool, Vec<Node>),
    Binary(Operator, Box<[Node; 2]>),
    If(Box<[Node; 3]>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Macro(Macro, Box<MacroNode>),
    Matches(Box<Node>, Regex),
    InRange(Box<Node>, Cidr),
    Call(&'static Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

#[derive(Debug, Clone)]
pub(super) struct MacroNode {
    pub range: Node,
    /// What is evaluated for each element; the condition, for `map` with three arguments.
    pub body: Node,
    /// What `map` with three arguments makes of the element.
    pub result: Option<Node>,
}

const MACROS: [(&str, Macro); 6] = [
    ("all", Macro::All),
    ("exists", Macro::Exists),
    ("exists_one", Macro::ExistsOne),
    ("existsOne", Macro::ExistsOne),
    ("filter", Macro::Filter),
    ("map", Macro::Map),
];

impl Program {
    /// Reads an expression, which may name these variables.
    ///
    /// # Errors
    /// Fails if the text is not CEL, or names something that does not exist.
    pub fn new(text: &str, scope: &Scope, variables: &[Program]) -> Result<Program, Fault> {
        let expr = parse(text)?;
        let mut compiler = Compiler {
            scope,
            variables,
            locals: Vec::new(),
            roots: Roots::default(),
            first: BTreeSet::new(),
            whole: 0,
            depth: 0,
        };
        let (node, kind) = compiler.expr(&expr)?;
        // A variable is evaluated where it is first named.
        let depth = expr.depth + compiler.depth;
        if depth > MAX_DEPTH {
            return Err(too_deep(&expr.span));
        }
        Ok(Program {
            node,
            kind,
            roots: compiler.roots,
            first: (compiler.whole == 0).then_some(compiler.first),
            depth,
        })
    }

    /// Reads an expression whose value must be of a kind.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does, or if the value is of another kind.
    pub fn of_kind(text: &str, scope: &Scope, variables: &[Program], wanted: &Kind) -> Result<Program, Fault> {
        let program = Program::new(text, scope, variables)?;
        match program.kind == *wanted || program.kind == Kind::Any {
            true => Ok(program),
            false => {
                let message = format!(
                    "the expression is {}, and must be {}",
                    program.kind.name(),
                    wanted.name()
                );
                Err(Fault::new(&program.node.span, message))
            }
        }
    }
}

struct Compiler<'s> {
    scope: &'s Scope,
    variables: &'s [Program],
    /// Variables of macros, the innermost last.
    locals: Vec<(String, Kind)>,
    roots: Roots,
    /// The fields of the first root that are named.
    first: BTreeSet<String>,
    /// How often the first root is used as a whole.
    whole: usize,
    /// The depth of the deepest variable.
    depth: usize,
}

type Compiled = Result<(Node, Kind), Fault>;

/// Makes the step for a field of a value.
type MakeStep = fn(Box<Node>, Box<str>) -> Step;

impl Compiler<'_> {
    fn expr(&mut self, expr: &Expr) -> Compiled {
        let (step, kind) = match &expr.kind {
            ExprKind::Null => (Step::Null, Kind::Null),
            ExprKind::Bool(flag) => (Step::Bool(*flag), Kind::Bool),
            ExprKind::Int(number) => (Step::Int(*number), Kind::Int),
            ExprKind::Double(number) => (Step::Double(*number), Kind::Double),
            ExprKind::Text(text) => (Step::Text(text.as_str().into()), Kind::Text),
            ExprKind::Ident(name) => self.ident(name, &expr.span)?,
            ExprKind::Select(of, name) => self.select(of, name, Step::Select)?,
            ExprKind::Index(of, index) => self.index(of, index)?,
            ExprKind::Call(target, name, args) => self.call(target.as_deref(), name, args)?,
            ExprKind::Not(of) => (Step::Not(Box::new(self.wanted(of, &Kind::Bool, "`!`")?)), Kind::Bool),
            ExprKind::Negate(of) => {
                let (node, kind) = self.expr(of)?;
                match kind {
                    Kind::Int | Kind::Double | Kind::Duration | Kind::Any => (Step::Negate(Box::new(node)), kind),
                    _ => return Err(Fault::new(&of.span, format!("`-` takes a number, not {}", kind.name()))),
                }
            }
            ExprKind::And(all) => (Step::Chain(true, self.bools(all, "`&&`")?), Kind::Bool),
            ExprKind::Or(all) => (Step::Chain(false, self.bools(all, "`||`")?), Kind::Bool),
            ExprKind::Binary(operator, two) => self.binary(*operator, two)?,
            ExprKind::If(three) => {
                let [condition, then, otherwise] = &**three;
                let condition = self.wanted(condition, &Kind::Bool, "`?`")?;
                let (then, kind) = self.expr(then)?;
                let (otherwise, other) = self.expr(otherwise)?;
                let kind = joined(kind, other);
                (Step::If(Box::new([condition, then, otherwise])), kind)
            }
            ExprKind::List(list) => {
                let mut kind = None;
                let mut nodes = Vec::with_capacity(list.len());
                for one in list {
                    let (node, own) = self.expr(one)?;
                    kind = Some(kind.map_or(own.clone(), |kind| joined(kind, own)));
                    nodes.push(node);
                }
                (Step::List(nodes), Kind::List(Box::new(kind.unwrap_or(Kind::Any))))
            }
            ExprKind::Map(entries) => {
                let mut kind = None;
                let mut nodes = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = self.wanted(key, &Kind::Text, "the key of a map")?;
                    let (value, own) = self.expr(value)?;
                    kind = Some(kind.map_or(own.clone(), |kind| joined(kind, own)));
                    nodes.push((key, value));
                }
                (Step::Map(nodes), Kind::Map(Box::new(kind.unwrap_or(Kind::Any))))
            }
        };
        let span = expr.span.clone();
        Ok((Node { span, step }, kind))
    }

    fn ident(&mut self, name: &str, span: &Range<usize>) -> Result<(Step, Kind), Fault> {
        if let Some(slot) = self.locals.iter().rposition(|(local, _)| local == name) {
            let kind = self.locals.get(slot).map_or(Kind::Any, |(_, kind)| kind.clone());
            return Ok((Step::Local(slot), kind));
        }
        if let Some(root) = self.scope.roots.iter().position(|(root, _)| *root == name) {
            self.roots.0 |= 1 << root;
            self.whole += usize::from(root == 0);
            let kind = self.scope.roots.get(root).map_or(Kind::Any, |(_, kind)| kind.clone());
            return Ok((Step::Root(root), kind));
        }
        let roots: Vec<&str> = self.scope.roots.iter().map(|(name, _)| *name).collect();
        let known = roots
            .iter()
            .copied()
            .chain(self.locals.iter().map(|(name, _)| name.as_str()));
        let hint = match text::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", roots.join(", ")),
        };
        Err(Fault::new(span, format!("there is no `{name}` here: {hint}")))
    }

    fn select(&mut self, of: &Expr, name: &Name, make: MakeStep) -> Result<(Step, Kind), Fault> {
        if matches!(&of.kind, ExprKind::Ident(ident) if ident == "variables") {
            let variables = &self.scope.variables;
            let Some(at) = variables.iter().position(|(known, _)| *known == name.text) else {
                let known = variables.iter().map(|(name, _)| name.as_str());
                let hint = text::nearest(&name.text, known).map(|near| format!(", did you mean `{near}`?"));
                let message = format!(
                    "there is no variable `{}` before this{}",
                    name.text,
                    hint.unwrap_or_default()
                );
                return Err(Fault::new(&name.span, message));
            };
            if let Some(program) = self.variables.get(at) {
                self.roots = self.roots.and(program.roots);
                self.depth = self.depth.max(program.depth);
            }
            let kind = variables.get(at).map_or(Kind::Any, |(_, kind)| kind.clone());
            return Ok((Step::Variable(at), kind));
        }
        let of = self.expr(of)?;
        self.field(of, &name.text, &name.span, make)
    }

    /// Compiles the access to a field of a value.
    fn field(
        &mut self,
        (node, kind): (Node, Kind),
        name: &str,
        span: &Range<usize>,
        make: MakeStep,
    ) -> Result<(Step, Kind), Fault> {
        let asks = match name {
            "client" => kind == Kind::Object("world"),
            // The share depends on the client, because the rings of clients differ.
            "share" => kind == Kind::Object("world") || kind == Kind::Object("world_locality"),
            _ => false,
        };
        if asks {
            self.roots.0 |= CLIENT;
        }
        if matches!(node.step, Step::Root(0)) {
            self.whole -= 1;
            self.first.insert(name.to_owned());
        }
        match SCHEMA.field(&kind, name) {
            Some(Ok(field)) => Ok((make(Box::new(node), name.into()), field)),
            Some(Err(why)) => Err(Fault::new(span, why)),
            None => {
                let message = format!("{} has no fields, so no `{name}`", kind.name());
                Err(Fault::new(span, message))
            }
        }
    }

    fn index(&mut self, of: &Expr, index: &Expr) -> Result<(Step, Kind), Fault> {
        let (node, kind) = self.expr(of)?;
        // A field in brackets is a field.
        if let (ExprKind::Text(name), Kind::Object(_) | Kind::Message(_)) = (&index.kind, &kind) {
            return self.field((node, kind), name, &index.span, Step::Select);
        }
        let (wanted, found) = match kind {
            Kind::List(of) => (Kind::Int, *of),
            Kind::Map(of) => (Kind::Text, *of),
            Kind::Any => (Kind::Any, Kind::Any),
            _ => return Err(Fault::new(&of.span, format!("{} has no elements", kind.name()))),
        };
        let index = self.wanted(index, &wanted, "the brackets")?;
        Ok((Step::Index(Box::new([node, index])), found))
    }

    /// Compiles an expression whose value must be of a kind.
    fn wanted(&mut self, expr: &Expr, wanted: &Kind, by: &str) -> Result<Node, Fault> {
        let (node, kind) = self.expr(expr)?;
        match kind == *wanted || kind == Kind::Any || *wanted == Kind::Any {
            true => Ok(node),
            false => {
                let message = format!("{by} takes {}, not {}", wanted.name(), kind.name());
                Err(Fault::new(&expr.span, message))
            }
        }
    }

    fn bools(&mut self, all: &[Expr], by: &str) -> Result<Vec<Node>, Fault> {
        all.iter().map(|one| self.wanted(one, &Kind::Bool, by)).collect()
    }

    fn binary(&mut self, operator: Operator, two: &[Expr; 2]) -> Result<(Step, Kind), Fault> {
        let [left, right] = two;
        let (left_node, a) = self.expr(left)?;
        let (right_node, b) = self.expr(right)?;
        let span = left.span.start..right.span.end;
        let kind = of_binary(operator, &a, &b).map_err(|why| {
            let hint = match (&a, &b) {
                (Kind::Duration, _) if is_written(right) => DURATION,
                (_, Kind::Duration) if is_written(left) => DURATION,
                (Kind::Duration, other) | (other, Kind::Duration) if other.is_text() => {
                    ": duration() makes a duration of a text"
                }
                (Kind::Int, Kind::Double) | (Kind::Double, Kind::Int) => ": double() makes a double of an int",
                (a, b) if operator == Operator::Add && (a.is_text() || b.is_text()) => {
                    ": string() makes a text of a value"
                }
                _ => "",
            };
            Fault::new(&span, format!("{why}{hint}"))
        })?;
        for (words, other) in [(&a, right), (&b, left)] {
            check_words(operator, words, other)?;
        }
        let step = Step::Binary(operator, Box::new([left_node, right_node]));
        Ok((step, kind))
    }

    fn call(&mut self, target: Option<&Expr>, name: &Name, args: &[Expr]) -> Result<(Step, Kind), Fault> {
        if let (None, "has", [arg]) = (target, name.text.as_str(), args) {
            let ExprKind::Select(of, field) = &arg.kind else {
                return Err(Fault::new(
                    &arg.span,
                    "has() takes a field, as in has(parsed.retry_policy)",
                ));
            };
            if matches!(&of.kind, ExprKind::Ident(ident) if ident == "variables") {
                return Err(Fault::new(&arg.span, "has() takes a field, and not a variable"));
            }
            let (node, kind) = self.expr(of)?;
            let is_always_there = SCHEMA.is_always_there(&kind, &field.text);
            let (step, kind) = self.field((node, kind), &field.text, &field.span, Step::Has)?;
            if is_always_there {
                return Err(Fault::new(&arg.span, always_there(&field.text, &kind)));
            }
            return Ok((step, Kind::Bool));
        }
        if let (Some(target), Some((_, which))) = (target, MACROS.iter().find(|(known, _)| *known == name.text)) {
            return self.of_macro(*which, target, name, args);
        }
        let all: Vec<&Expr> = target.into_iter().chain(args).collect();
        if let ("matches", [text, pattern]) = (name.text.as_str(), all.as_slice()) {
            let ExprKind::Text(literal) = &pattern.kind else {
                let message = "the pattern of matches() is a text that stands here";
                return Err(Fault::new(&pattern.span, message));
            };
            Regex::check(literal).map_err(|why| Fault::new(&pattern.span, why.to_string()))?;
            // It is enough that a part of the text matches.
            let regex = Regex::new(&format!("(?s:.*)(?:{literal})(?s:.*)"));
            let regex = regex.map_err(|why| Fault::new(&pattern.span, why.to_string()))?;
            let text = self.wanted(text, &Kind::Text, "matches()")?;
            return Ok((Step::Matches(Box::new(text), regex), Kind::Bool));
        }
        if let ("duration", [only]) = (name.text.as_str(), all.as_slice())
            && let ExprKind::Text(literal) = &only.kind
        {
            let message = "no duration: one is written like '30s', '1.5h' or '250ms'";
            let of = nanoseconds(literal).ok_or_else(|| Fault::new(&only.span, message))?;
            return Ok((Step::Duration(of), Kind::Duration));
        }
        if let ("inRange", [address, range]) = (name.text.as_str(), all.as_slice())
            && let ExprKind::Text(literal) = &range.kind
        {
            let of = functions::range(literal).map_err(|why| Fault::new(&range.span, why))?;
            let address = self.wanted(address, &Kind::Text, "inRange()")?;
            return Ok((Step::InRange(Box::new(address), of), Kind::Bool));
        }
        let Some(function) = functions::FUNCTIONS.iter().find(|function| function.name == name.text) else {
            let known = functions::FUNCTIONS.iter().map(|function| function.name);
            let others = MACROS.iter().map(|(name, _)| *name).chain(["has", "matches"]);
            let hint = text::nearest(&name.text, known.chain(others));
            let hint = hint.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            return Err(Fault::new(
                &name.span,
                format!("there is no function `{}`{hint}", name.text),
            ));
        };
        let mut nodes = Vec::with_capacity(all.len());
        let mut kinds = Vec::with_capacity(all.len());
        for arg in &all {
            let (node, kind) = self.expr(arg)?;
            nodes.push(node);
            kinds.push(kind);
        }
        let kind = function.result(&kinds).map_err(|(number, why)| {
            let span = number
                .and_then(|number| all.get(number))
                .map_or(&name.span, |arg| &arg.span);
            Fault::new(span, why)
        })?;
        if let ("sum", Kind::Double | Kind::Duration) = (function.name, &kind) {
            // The sum of no elements is of the same kind.
            let step = if kind == Kind::Duration {
                Step::Duration(0)
            } else {
                Step::Double(0.0)
            };
            let span = name.span.clone();
            nodes.push(Node { span, step });
        }
        Ok((Step::Call(function, nodes), kind))
    }

    fn of_macro(&mut self, which: Macro, target: &Expr, name: &Name, args: &[Expr]) -> Result<(Step, Kind), Fault> {
        let (var, body, result) = match args {
            [var, body] => (var, body, None),
            [var, condition, result] if which == Macro::Map => (var, condition, Some(result)),
            _ => {
                let message = format!(
                    "{0}() takes a name and an expression, as in list.{0}(x, x > 1)",
                    name.text
                );
                return Err(Fault::new(&name.span, message));
            }
        };
        let ExprKind::Ident(var_name) = &var.kind else {
            return Err(Fault::new(&var.span, "a name for each element stands here"));
        };
        let (range, kind) = self.expr(target)?;
        let element = match kind {
            Kind::List(of) => *of,
            // A macro goes through the keys of a map.
            Kind::Map(_) => Kind::Text,
            Kind::Any => Kind::Any,
            _ => {
                let message = format!("{}() goes through a list, not {}", name.text, kind.name());
                return Err(Fault::new(&target.span, message));
            }
        };
        self.locals.push((var_name.clone(), element.clone()));
        let of_body = self.expr(body);
        let of_result = result.map(|result| self.expr(result)).transpose();
        self.locals.pop();
        let ((body_node, body_kind), of_result) = (of_body?, of_result?);
        let is_map_alone = which == Macro::Map && of_result.is_none();
        if !is_map_alone && !matches!(body_kind, Kind::Bool | Kind::Any) {
            let message = format!("{}() takes a bool, not {}", name.text, body_kind.name());
            return Err(Fault::new(&body.span, message));
        }
        let kind = match which {
            Macro::All | Macro::Exists | Macro::ExistsOne => Kind::Bool,
            Macro::Filter => Kind::List(Box::new(element)),
            Macro::Map => {
                let made = of_result.as_ref().map_or(body_kind, |(_, kind)| kind.clone());
                Kind::List(Box::new(made))
            }
        };
        let node = MacroNode {
            range,
            body: body_node,
            result: of_result.map(|(node, _)| node),
        };
        Ok((Step::Macro(which, Box::new(node)), kind))
    }
}
