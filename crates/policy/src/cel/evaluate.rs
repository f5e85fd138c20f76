//! Evaluates a program, and counts every step.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::compile::{Macro, MacroNode, Node, Program, Step};
use super::functions::short;
use super::syntax::Operator;
use super::value::{Text, Value};

/// Steps of one evaluation: a part of an expression, an element of a list, or 16 bytes of a text
/// that is made.
pub const MAX_STEPS: u64 = 1_000_000;

/// Bytes of a text that count as a step.
const BYTES_A_STEP: usize = 16;

/// Steps that views take beside what they give: they count with the next one of the evaluation.
#[derive(Debug, Clone, Default)]
pub struct Work(Rc<Cell<usize>>);

impl Work {
    /// Adds steps.
    pub fn add(&self, steps: usize) {
        self.0.set(self.0.get().saturating_add(steps));
    }
}

/// How many steps are left.
#[derive(Debug)]
pub struct Budget {
    /// Of this evaluation.
    own: u64,
    /// Of all.
    all: u64,
    work: Work,
}

impl Budget {
    /// So many for all evaluations together.
    pub fn new(all: u64) -> Budget {
        let work = Work::default();
        Budget { own: 0, all, work }
    }

    /// Where views say what they do.
    pub fn work(&self) -> Work {
        self.work.clone()
    }

    /// Begins an evaluation.
    pub const fn begin(&mut self) {
        self.own = MAX_STEPS;
    }

    /// Steps of all evaluations that are left.
    pub const fn left(&self) -> u64 {
        self.all
    }

    /// Takes steps of all evaluations; says whether there are any left.
    pub const fn spend(&mut self, steps: u64) -> bool {
        self.all = self.all.saturating_sub(steps);
        self.all > 0
    }

    /// Takes steps.
    pub(super) fn take(&mut self, steps: usize) -> Result<(), EvaluationStop> {
        let steps = (steps as u64).saturating_add(self.work.0.take() as u64);
        if steps > self.own || steps > self.all {
            // An evaluation that goes too far has taken what it may.
            self.all = self.all.saturating_sub(self.own.min(steps));
            self.own = 0;
            return Err(EvaluationStop::Limit);
        }
        self.own -= steps;
        self.all -= steps;
        Ok(())
    }

    /// Takes the steps for a text.
    pub(super) fn text(&mut self, bytes: usize) -> Result<(), EvaluationStop> {
        self.take(bytes / BYTES_A_STEP)
    }
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluationStop {
    /// An operation cannot be done with these values.
    Failed {
        /// A lower-case sentence.
        why: String,
        /// Where in the expression.
        span: Range<usize>,
        /// The number of the variable whose expression that is.
        variable: Option<usize>,
        /// What stands there is null, and `why` is what it lacks.
        is_null: bool,
    },
    /// It takes more steps than there may be.
    Limit,
}

/// What a program is evaluated with.
pub struct Evaluation<'e, 'a> {
    /// The roots by their numbers.
    pub root: &'e dyn Fn(usize) -> Value<'a>,
    /// The expressions of `variables`, in their order.
    pub variables: &'a [Program],
    /// Their values, as far as they were asked for.
    pub known: Vec<Option<Result<Value<'a>, EvaluationStop>>>,
    /// What is left to take.
    pub budget: &'e mut Budget,
    locals: Vec<Value<'a>>,
}

type Evaluated<'a> = Result<Value<'a>, EvaluationStop>;

impl EvaluationStop {
    fn at(node: &Node, why: String) -> EvaluationStop {
        EvaluationStop::Failed {
            why,
            span: node.span.clone(),
            variable: None,
            is_null: false,
        }
    }

    /// The same in the expression of a variable.
    fn in_variable(mut self, number: usize) -> EvaluationStop {
        if let EvaluationStop::Failed { variable, .. } = &mut self {
            variable.get_or_insert(number);
        }
        self
    }
}

impl<'e, 'a> Evaluation<'e, 'a> {
    /// Evaluates with these roots.
    pub fn new(root: &'e dyn Fn(usize) -> Value<'a>, variables: &'a [Program], budget: &'e mut Budget) -> Self {
        Evaluation {
            root,
            variables,
            known: Vec::new(),
            budget,
            locals: Vec::new(),
        }
    }

    /// The value of a program.
    ///
    /// # Errors
    /// It cannot be computed, or takes too many steps.
    pub fn value(&mut self, program: &'a Program) -> Evaluated<'a> {
        self.node(&program.node)
    }

    fn node(&mut self, node: &'a Node) -> Evaluated<'a> {
        self.budget.take(1)?;
        let failed = |why: String| EvaluationStop::at(node, why);
        Ok(match &node.step {
            Step::Null => Value::Null,
            Step::Bool(flag) => Value::Bool(*flag),
            Step::Int(number) => Value::Int(*number),
            Step::Double(number) => Value::Double(*number),
            Step::Text(text) => Value::Text(Text::Borrowed(text)),
            Step::Duration(of) => Value::Duration(*of),
            Step::Root(root) => (self.root)(*root),
            Step::Local(slot) => self.locals.get(*slot).cloned().unwrap_or(Value::Null),
            Step::Variable(number) => return self.variable(*number),
            Step::Select(of, name) => {
                let value = self.node(of)?;
                return field(&value, name, self.budget)?.ok_or_else(|| match value {
                    Value::Null => EvaluationStop::Failed {
                        why: format!("has no `{name}`"),
                        span: of.span.clone(),
                        variable: None,
                        is_null: true,
                    },
                    _ => failed(format!("{} has no `{name}`", value.kind())),
                });
            }
            Step::Has(of, name) => {
                let of = self.way(of)?;
                let value = field(&of, name, self.budget)?;
                Value::Bool(!matches!(value, None | Some(Value::Null)))
            }
            Step::Index(two) => {
                let [of, index] = &**two;
                let (of, index) = (self.node(of)?, self.node(index)?);
                return match (&of, &index) {
                    (Value::List(list), Value::Int(at)) => {
                        let found = usize::try_from(*at).ok().and_then(|at| list.get(at)).cloned();
                        found.ok_or_else(|| failed(format!("there is no element {at} of {}", list.len())))
                    }
                    (_, Value::Text(name)) => field(&of, name, self.budget)?
                        .ok_or_else(|| failed(format!("{} has no `{}`", of.kind(), short(name)))),
                    _ => Err(failed(format!("{} has no element by {}", of.kind(), index.kind()))),
                };
            }
            Step::Not(of) => match self.node(of)? {
                Value::Bool(flag) => Value::Bool(!flag),
                other => return Err(failed(format!("`!` takes a bool, not {}", other.kind()))),
            },
            Step::Negate(of) => match self.node(of)? {
                Value::Int(number) => Value::Int(number.checked_neg().ok_or_else(|| failed(beyond()))?),
                Value::Double(number) => Value::Double(-number),
                Value::Duration(of) => Value::Duration(of.saturating_neg()),
                other => return Err(failed(format!("`-` takes a number, not {}", other.kind()))),
            },
            Step::Chain(is_all, nodes) => return self.chain(*is_all, nodes),
            Step::Binary(Operator::In, two) if matches!(two[1].step, Step::List(_)) => {
                let [wanted, list] = &**two;
                let wanted = self.node(wanted)?;
                let Step::List(elements) = &list.step else {
                    return Ok(Value::Bool(false));
                };
                for element in elements {
                    if self.node(element)?.equals(&wanted, self.budget)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Step::Binary(operator, two) => {
                let [left, right] = &**two;
                let (left, right) = (self.node(left)?, self.node(right)?);
                return binary(*operator, &left, &right, self.budget).map_err(|stop| match stop {
                    Why::Failed(why) => failed(why),
                    Why::Stop(stop) => stop,
                });
            }
            Step::If(three) => {
                let [condition, then, otherwise] = &**three;
                match self.node(condition)? {
                    Value::Bool(true) => return self.node(then),
                    Value::Bool(false) => return self.node(otherwise),
                    other => return Err(failed(format!("`?` takes a bool, not {}", other.kind()))),
                }
            }
            Step::List(nodes) => {
                let list: Result<Rc<[Value<'a>]>, _> = nodes.iter().map(|node| self.node(node)).collect();
                Value::List(list?)
            }
            Step::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, value) in entries {
                    let Value::Text(key) = self.node(key)? else {
                        return Err(failed("the key of a map is a text".to_owned()));
                    };
                    map.insert(key, self.node(value)?);
                }
                Value::Map(Rc::new(map))
            }
            Step::Macro(which, parts) => return self.of_macro(*which, parts),
            Step::Matches(of, regex) => match self.node(of)? {
                Value::Text(text) => {
                    // The engine goes through the text once.
                    self.budget.take(text.len())?;
                    Value::Bool(regex.is_full_match(&text))
                }
                other => return Err(failed(format!("matches() takes a text, not {}", other.kind()))),
            },
            Step::Call(function, args) => {
                let values: Result<Vec<Value<'a>>, _> = args.iter().map(|arg| self.node(arg)).collect();
                let values = values?;
                for value in &values {
                    // A function goes through its texts.
                    self.budget
                        .text(if let Value::Text(text) = value { text.len() } else { 0 })?;
                }
                return (function.call)(&values, self.budget).map_err(|stop| match stop {
                    Why::Failed(why) => failed(format!("{}(): {why}", function.name)),
                    Why::Stop(stop) => stop,
                });
            }
        })
    }

    /// The value that has() asks for a field: null too where something on the way to it is.
    fn way(&mut self, node: &'a Node) -> Evaluated<'a> {
        let Step::Select(of, name) = &node.step else {
            return self.node(node);
        };
        self.budget.take(1)?;
        match self.way(of)? {
            Value::Null => Ok(Value::Null),
            of => {
                let found = field(&of, name, self.budget)?;
                found.ok_or_else(|| EvaluationStop::at(node, format!("{} has no `{name}`", of.kind())))
            }
        }
    }

    fn variable(&mut self, number: usize) -> Evaluated<'a> {
        if let Some(Some(known)) = self.known.get(number) {
            return known.clone();
        }
        let Some(program) = self.variables.get(number) else {
            return Ok(Value::Null);
        };
        let locals = std::mem::take(&mut self.locals);
        let value = self.node(&program.node).map_err(|stop| stop.in_variable(number));
        self.locals = locals;
        self.known.resize(self.variables.len(), None);
        if let Some(known) = self.known.get_mut(number) {
            *known = Some(value.clone());
        }
        value
    }

    /// `&&` and `||`: what decides counts, also beside what cannot be computed.
    fn chain(&mut self, is_all: bool, nodes: &'a [Node]) -> Evaluated<'a> {
        let mut trouble = None;
        for node in nodes {
            match self.node(node) {
                Ok(Value::Bool(flag)) if flag != is_all => return Ok(Value::Bool(flag)),
                Ok(Value::Bool(_)) => {}
                Ok(other) => {
                    let why = format!("`&&` and `||` take bools, not {}", other.kind());
                    trouble.get_or_insert(EvaluationStop::at(node, why));
                }
                Err(EvaluationStop::Limit) => return Err(EvaluationStop::Limit),
                Err(stop) => {
                    trouble.get_or_insert(stop);
                }
            }
        }
        trouble.map_or(Ok(Value::Bool(is_all)), Err)
    }

    fn of_macro(&mut self, which: Macro, parts: &'a MacroNode) -> Evaluated<'a> {
        let elements: Rc<[Value<'a>]> = match self.node(&parts.range)? {
            Value::List(list) => list,
            Value::Map(map) => map.keys().cloned().map(Value::Text).collect(),
            other => {
                let why = format!("only a list has elements, and this is {}", other.kind());
                return Err(EvaluationStop::at(&parts.range, why));
            }
        };
        let mut trouble = None;
        let mut met = 0_usize;
        let mut made = Vec::new();
        for element in elements.iter() {
            self.budget.take(1)?;
            self.locals.push(element.clone());
            let value = self.node(&parts.body);
            let made_of = match (&value, &parts.result) {
                (Ok(Value::Bool(true)), Some(result)) => Some(self.node(result)),
                _ => None,
            };
            self.locals.pop();
            let is_map_alone = which == Macro::Map && parts.result.is_none();
            match value {
                Err(EvaluationStop::Limit) => return Err(EvaluationStop::Limit),
                Ok(value) if is_map_alone => made.push(value),
                Ok(Value::Bool(flag)) => {
                    met += usize::from(flag);
                    match which {
                        Macro::All if !flag => return Ok(Value::Bool(false)),
                        Macro::Exists if flag => return Ok(Value::Bool(true)),
                        Macro::Filter if flag => made.push(element.clone()),
                        Macro::Map => made.extend(made_of.transpose()?),
                        _ => {}
                    }
                }
                Ok(other) => {
                    let why = format!("a bool should be here, not {}", other.kind());
                    return Err(EvaluationStop::at(&parts.body, why));
                }
                // An element that decides may come later.
                Err(stop) if matches!(which, Macro::All | Macro::Exists) => {
                    trouble.get_or_insert(stop);
                }
                Err(stop) => return Err(stop),
            }
        }
        if let Some(stop) = trouble {
            return Err(stop);
        }
        Ok(match which {
            Macro::All => Value::Bool(true),
            Macro::Exists => Value::Bool(false),
            Macro::ExistsOne => Value::Bool(met == 1),
            Macro::Filter | Macro::Map => Value::List(made.into()),
        })
    }
}

/// Why an operation was not done.
pub(super) enum Why {
    Failed(String),
    Stop(EvaluationStop),
}

impl From<EvaluationStop> for Why {
    fn from(stop: EvaluationStop) -> Why {
        Why::Stop(stop)
    }
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Failed(why)
    }
}

/// The field of a value, as [`Value::field`]; what an object makes for it are steps.
fn field<'a>(of: &Value<'a>, name: &str, budget: &mut Budget) -> Result<Option<Value<'a>>, EvaluationStop> {
    let value = of.field(name);
    if let (Value::Record(_) | Value::Object(_), Some(value)) = (of, &value) {
        budget.take(value.parts() - 1)?;
    }
    Ok(value)
}

fn beyond() -> String {
    "the number is beyond 64 bits".to_owned()
}

fn binary<'a>(operator: Operator, a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Result<Value<'a>, Why> {
    let order = || {
        let order = a.order(b);
        order.ok_or_else(|| {
            let hint = match (a, b) {
                (Value::Null, _) | (_, Value::Null) => ": has() says whether there is something",
                (Value::Text(_), Value::Duration(_)) | (Value::Duration(_), Value::Text(_)) => {
                    ": duration() makes a duration of a text"
                }
                _ => "",
            };
            format!("{} and {} have no order{hint}", a.kind(), b.kind())
        })
    };
    let bytes = |value: &Value<'_>| if let Value::Text(text) = value { text.len() } else { 0 };
    budget.text(bytes(a).min(bytes(b)))?;
    Ok(match operator {
        Operator::Equal => Value::Bool(a.equals(b, budget)?),
        Operator::Unequal => Value::Bool(!a.equals(b, budget)?),
        Operator::Less => Value::Bool(order()? == Ordering::Less),
        Operator::LessOrEqual => Value::Bool(order()? != Ordering::Greater),
        Operator::Greater => Value::Bool(order()? == Ordering::Greater),
        Operator::GreaterOrEqual => Value::Bool(order()? != Ordering::Less),
        Operator::In => match (a, b) {
            (_, Value::List(list)) => {
                for element in list.iter() {
                    budget.take(1)?;
                    if element.equals(a, budget)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            (Value::Text(key), Value::Map(map)) => Value::Bool(map.contains_key(&**key)),
            _ => return Err(format!("`in` looks for {} in a list, not in {}", a.kind(), b.kind()).into()),
        },
        Operator::Add => match (a, b) {
            (Value::Text(one), Value::Text(other)) => {
                budget.text(one.len() + other.len())?;
                Value::text([&**one, &**other].concat())
            }
            (Value::List(one), Value::List(other)) => {
                budget.take(one.len() + other.len())?;
                Value::list(one.iter().chain(other.iter()).cloned())
            }
            _ => of_numbers(operator, a, b)?,
        },
        _ => of_numbers(operator, a, b)?,
    })
}

fn of_numbers<'a>(operator: Operator, a: &Value<'a>, b: &Value<'a>) -> Result<Value<'a>, String> {
    let other = || format!("`{}` does not take {} and {}", operator.sign(), a.kind(), b.kind());
    match (a, b) {
        (Value::Int(_), Value::Int(0)) if matches!(operator, Operator::Divide | Operator::Remainder) => {
            Err("a number is divided by 0".to_owned())
        }
        (Value::Int(a), Value::Int(b)) => {
            let value = match operator {
                Operator::Add => a.checked_add(*b),
                Operator::Subtract => a.checked_sub(*b),
                Operator::Multiply => a.checked_mul(*b),
                Operator::Divide => a.checked_div(*b),
                Operator::Remainder => a.checked_rem(*b),
                _ => return Err(other()),
            };
            value.map(Value::Int).ok_or_else(beyond)
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => return Err(other()),
        })),
        (Value::Duration(a), Value::Duration(b)) => Ok(Value::Duration(match operator {
            Operator::Add => a.saturating_add(*b),
            Operator::Subtract => a.saturating_sub(*b),
            _ => return Err(other()),
        })),
        _ => Err(other()),
    }
}
