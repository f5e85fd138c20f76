//! Evaluates a program, and counts every step.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::budget::Budget;
use super::compile::{Macro, MacroNode, Node, Program, Step};
use super::functions::{Function, is_in, short, unfit};
use super::kept::ip_address;
use super::syntax::Operator;
use super::value::{Text, Value, View};
use xdsctl_channel::parsed::{FieldValue, Fields};
use xdsctl_model::resource::listener::Cidr;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluationStop {
    /// An operation cannot be done with these values. Boxed, because each part of an expression
    /// returns this or a value: it is no larger than a value.
    Failed(Box<Failure>),
    /// The evaluation takes more steps than it may.
    Limit,
}

/// An operation that cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A lower-case sentence.
    pub why: String,
    /// The place in the expression.
    pub span: Range<usize>,
    /// The number of the variable whose expression has that place; `None` if it is not in a
    /// variable.
    pub variable: Option<usize>,
    /// Whether the value at that place is null; `why` then says what it lacks.
    pub is_null: bool,
}

/// What a program is evaluated with.
pub struct Evaluation<'e, 'a> {
    /// Returns a root by its number.
    root: &'e dyn Fn(usize) -> &'e Value<'a>,
    /// The expressions of `variables`, in their order.
    variables: &'a [Program],
    /// The steps that are left.
    budget: &'e mut Budget,
    scratch: &'e mut Scratch<'a>,
}

/// Memory that evaluations use one after the other.
#[derive(Default)]
pub struct Scratch<'a> {
    /// The values of variables that were asked for.
    known: Vec<Option<Evaluated<'a>>>,
    /// The values of the variables of macros, the innermost last.
    locals: Vec<Value<'a>>,
    /// The last maps that records made, with their fields. The same field is often asked for again.
    made: Vec<(&'a dyn Fields, &'a str, Value<'a>)>,
}

/// How a field is looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// An access, for which the field must exist.
    Select,
    /// has() asks for the field.
    Has,
    /// The field is on the way to that of has(): a field of null is null.
    Way,
}

/// The number of maps that `made` keeps.
const MADE_MAPS: usize = 2;

type Evaluated<'a> = Result<Value<'a>, EvaluationStop>;

impl EvaluationStop {
    #[cold]
    fn at(node: &Node, why: String) -> EvaluationStop {
        EvaluationStop::Failed(Box::new(Failure {
            why,
            span: node.span.clone(),
            variable: None,
            is_null: false,
        }))
    }

    /// Returns the failure of a value that has no such field.
    #[cold]
    fn without_field(node: &Node, of: &Node, name: &str, value: &Value<'_>) -> EvaluationStop {
        match value {
            Value::Null => EvaluationStop::Failed(Box::new(Failure {
                why: format!("has no `{name}`"),
                span: of.span.clone(),
                variable: None,
                is_null: true,
            })),
            _ => EvaluationStop::at(node, format!("{} has no `{name}`", value.kind())),
        }
    }

    /// Says that the evaluation stopped in the expression of a variable.
    fn in_variable(mut self, number: usize) -> EvaluationStop {
        if let EvaluationStop::Failed(failure) = &mut self {
            failure.variable.get_or_insert(number);
        }
        self
    }
}

impl<'e, 'a> Evaluation<'e, 'a> {
    /// Begins an evaluation with these roots.
    #[inline]
    pub fn new(
        root: &'e dyn Fn(usize) -> &'e Value<'a>,
        variables: &'a [Program],
        budget: &'e mut Budget,
        scratch: &'e mut Scratch<'a>,
    ) -> Self {
        if !scratch.known.is_empty() {
            scratch.known.clear();
        }
        Evaluation {
            root,
            variables,
            budget,
            scratch,
        }
    }

    /// Returns the value of a program.
    ///
    /// # Errors
    /// Fails if the value cannot be computed, or takes too many steps.
    pub fn value(&mut self, program: &'a Program) -> Evaluated<'a> {
        self.node(&program.node)
    }

    fn node(&mut self, node: &'a Node) -> Evaluated<'a> {
        self.budget.take(1)?;
        Ok(match &node.step {
            Step::Null => Value::Null,
            Step::Bool(flag) => Value::Bool(*flag),
            Step::Int(number) => Value::Int(*number),
            Step::Double(number) => Value::Double(*number),
            Step::Text(text) => Value::Text(Text::Borrowed(text)),
            Step::Duration(of) => Value::Duration(*of),
            Step::Root(root) => {
                let value = (self.root)(*root).clone();
                self.budget.take_work(0)?;
                value
            }
            Step::Local(slot) => self.scratch.locals.get(*slot).cloned().unwrap_or(Value::Null),
            Step::Variable(number) => return self.variable(*number),
            Step::Select(of, name) => return self.field_of(node, of, name, Look::Select),
            Step::Has(of, name) => {
                let found = self.field_of(node, of, name, Look::Has)?;
                Value::Bool(!matches!(found, Value::Null))
            }
            Step::Chain(is_all, nodes) => return self.chain(*is_all, nodes),
            Step::Binary(Operator::In, two) if matches!(two[1].step, Step::List(_)) => return self.is_one_of(two),
            Step::Binary(operator, two) => {
                let [left, right] = &**two;
                let (left, right) = (self.node(left)?, self.node(right)?);
                return binary(*operator, &left, &right, self.budget).map_err(|why| why.at(node, None));
            }
            Step::Macro(which, parts) => return self.of_macro(*which, parts),
            Step::Call(function, args) => return self.call(node, function, args),
            _ => return self.other(node),
        })
    }

    /// Evaluates parts that few expressions have, so that `node`, which all of them need, stays
    /// small.
    #[inline(never)]
    fn other(&mut self, node: &'a Node) -> Evaluated<'a> {
        let failed = |why: String| EvaluationStop::at(node, why);
        Ok(match &node.step {
            Step::Index(two) => {
                let [of, index] = &**two;
                let (of, index) = (self.node(of)?, self.node(index)?);
                return match (&of, &index) {
                    (Value::List(list), Value::Int(at)) => {
                        let found = usize::try_from(*at).ok().and_then(|at| list.get(at)).cloned();
                        found.ok_or_else(|| failed(format!("there is no element {at} of {}", list.len())))
                    }
                    (_, Value::Text(name)) => {
                        let found = of.field(name);
                        if let (Value::Record(_) | Value::Object(_), Some(found)) = (&of, &found) {
                            self.budget.take_work(found.parts() - 1)?;
                        }
                        found.ok_or_else(|| failed(format!("{} has no `{}`", of.kind(), short(name))))
                    }
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
            Step::Matches(of, regex) => match self.node(of)? {
                Value::Text(text) => {
                    // The engine goes through the text once.
                    self.budget.take(text.len())?;
                    Value::Bool(regex.is_full_match(&text))
                }
                other => return Err(failed(format!("matches() takes a text, not {}", other.kind()))),
            },
            Step::InRange(of, range) => return self.in_range(node, of, *range),
            // `node` evaluates all others.
            _ => Value::Null,
        })
    }

    #[inline(never)]
    fn call(&mut self, node: &Node, function: &Function, args: &'a [Node]) -> Evaluated<'a> {
        match args {
            [one] => {
                let values = [self.node(one)?];
                self.called(node, function, &values)
            }
            [one, other] => {
                let values = [self.node(one)?, self.node(other)?];
                self.called(node, function, &values)
            }
            _ => {
                let values: Result<Vec<Value<'a>>, _> = args.iter().map(|arg| self.node(arg)).collect();
                self.called(node, function, &values?)
            }
        }
    }

    fn called(&mut self, node: &Node, function: &Function, values: &[Value<'a>]) -> Evaluated<'a> {
        for value in values {
            // A function reads all of its texts.
            self.budget
                .text(if let Value::Text(text) = value { text.len() } else { 0 })?;
        }
        (function.call)(values, self.budget).map_err(|why| why.at(node, Some(function.name)))
    }

    /// Returns the field of a part's value, as [`Value::field`] does.
    fn field_of(&mut self, node: &'a Node, of: &'a Node, name: &'a str, look: Look) -> Evaluated<'a> {
        let made;
        let value = match &of.step {
            // No value is made to look at these.
            Step::Root(root) => {
                let value = (self.root)(*root);
                self.budget.take_work(1)?;
                value
            }
            Step::Local(slot) => {
                self.budget.take(1)?;
                self.scratch.locals.get(*slot).unwrap_or(&Value::Null)
            }
            Step::Select(inner, name) if look != Look::Select => {
                self.budget.take(1)?;
                made = self.field_of(of, inner, name, Look::Way)?;
                &made
            }
            _ => {
                made = self.node(of)?;
                &made
            }
        };
        let found = match value {
            Value::Record(record) => {
                let record = *record;
                self.made(record, name)
            }
            Value::Object(object) => object.get(name),
            _ => match (value.field(name), look, value) {
                (Some(found), ..) => return Ok(found),
                (None, Look::Has, _) | (None, Look::Way, Value::Null) => return Ok(Value::Null),
                (None, ..) => return Err(EvaluationStop::without_field(node, of, name, value)),
            },
        };
        // What an object makes for the field counts as steps.
        self.budget.take_work(found.parts() - 1)?;
        Ok(found)
    }

    /// Returns the field of a record.
    fn made(&mut self, of: &'a dyn Fields, name: &'a str) -> Value<'a> {
        let made = &mut self.scratch.made;
        let mut known = made
            .iter()
            .filter(|(known, field, _)| std::ptr::eq(*known, of) && *field == name);
        if let Some((.., value)) = known.next() {
            return value.clone();
        }
        let value = FieldValue::Object(of).get(name);
        if matches!(value, Value::Map(_)) {
            made.truncate(MADE_MAPS - 1);
            made.insert(0, (of, name, value.clone()));
        }
        value
    }

    /// Evaluates `inRange()` with a range that is written in the expression.
    fn in_range(&mut self, node: &'a Node, of: &'a Node, range: Cidr) -> Evaluated<'a> {
        if let Step::Select(inner, name) = &of.step {
            let holder = match &inner.step {
                Step::Root(root) => Some((self.root)(*root)),
                Step::Local(slot) => self.scratch.locals.get(*slot),
                _ => None,
            };
            if let Some(Value::Record(record)) = holder
                && let Some(address) = ip_address(*record, name)
            {
                self.budget.take(2)?;
                return Ok(Value::Bool(range.contains(address)));
            }
        }
        let value = self.node(of)?;
        let Value::Text(text) = value else {
            return Err(unfit(&value).at(node, Some("inRange")));
        };
        self.budget.text(text.len())?;
        is_in(&text, range).map_err(|why| why.at(node, Some("inRange")))
    }

    /// Evaluates `in` with a list that is written in the expression, without making the list.
    #[inline(never)]
    fn is_one_of(&mut self, two: &'a [Node; 2]) -> Evaluated<'a> {
        let [wanted, list] = two;
        let wanted = self.node(wanted)?;
        let Step::List(elements) = &list.step else {
            return Ok(Value::Bool(false));
        };
        for element in elements {
            if self.node(element)?.equals(&wanted, self.budget)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    #[inline(never)]
    fn variable(&mut self, number: usize) -> Evaluated<'a> {
        if let Some(Some(known)) = self.scratch.known.get(number) {
            return known.clone();
        }
        let Some(program) = self.variables.get(number) else {
            return Ok(Value::Null);
        };
        let locals = std::mem::take(&mut self.scratch.locals);
        let value = self.node(&program.node).map_err(|stop| stop.in_variable(number));
        self.scratch.locals = locals;
        self.scratch.known.resize(self.variables.len(), None);
        if let Some(known) = self.scratch.known.get_mut(number) {
            *known = Some(value.clone());
        }
        value
    }

    /// Evaluates `&&` or `||`. A part that decides counts even if another part cannot be computed.
    #[inline(never)]
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

    #[inline(never)]
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
            self.scratch.locals.push(element.clone());
            let value = self.node(&parts.body);
            let made_of = match (&value, &parts.result) {
                (Ok(Value::Bool(true)), Some(result)) => Some(self.node(result)),
                _ => None,
            };
            self.scratch.locals.pop();
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

impl Why {
    /// Returns the stop at a part of the expression, which may call a function.
    #[cold]
    fn at(self, node: &Node, function: Option<&str>) -> EvaluationStop {
        match (self, function) {
            (Why::Failed(why), Some(name)) => EvaluationStop::at(node, format!("{name}(): {why}")),
            (Why::Failed(why), None) => EvaluationStop::at(node, why),
            (Why::Stop(stop), _) => stop,
        }
    }
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
