//! Kinds of values: what an operator makes of two kinds, and the message if they do not fit.

use super::Fault;
use super::syntax::{Expr, ExprKind, Operator};
use crate::schema::Kind;

/// The hint if a duration is compared with something that is written as a text or a number.
pub(super) const DURATION: &str = ": a duration is written duration('30s')";

/// Says whether an expression is a text or a number that is written out.
pub(super) const fn is_written(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Text(_) | ExprKind::Int(_))
}

/// Checks the texts that a value is compared with, if the value can only be one of a few texts.
pub(super) fn check_words(operator: Operator, kind: &Kind, other: &Expr) -> Result<(), Fault> {
    let words = match (operator, kind) {
        (Operator::Equal | Operator::Unequal | Operator::In, Kind::Word(words)) => words,
        (Operator::In, Kind::List(of)) => match &**of {
            Kind::Word(words) => words,
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let texts = match &other.kind {
        ExprKind::List(list) => list.as_slice(),
        _ => std::slice::from_ref(other),
    };
    for expr in texts {
        if let ExprKind::Text(text) = &expr.kind {
            words.check(text).map_err(|why| Fault::new(&expr.span, why))?;
        }
    }
    Ok(())
}

/// Says why has() is of no use on a field that always exists.
pub(super) fn always_there(name: &str, kind: &Kind) -> String {
    let instead = match kind {
        Kind::Bool => "it is true or false",
        Kind::Int => "compare it with a number, as in `> 0`",
        Kind::Double => "compare it with a number, as in `> 0.0`",
        Kind::Text | Kind::Word(_) => "compare it with a text, as in `!= ''`",
        Kind::Duration => "compare it, as in `> duration('0s')`",
        Kind::List(_) | Kind::Map(_) => "ask for its elements, as in `.size() > 0`",
        Kind::Any | Kind::Null | Kind::Object(_) | Kind::Message(_) => "ask for a field of it",
    };
    format!("`{name}` is there whenever what it stands in is, so has() says nothing of it: {instead}")
}

/// Returns the kind of a value that may be of either kind.
pub(super) fn joined(a: Kind, b: Kind) -> Kind {
    match (a, b) {
        (Kind::Word(a), Kind::Word(b)) if a != b => Kind::Text,
        (Kind::Text, Kind::Word(_)) => Kind::Text,
        (a, b) if a == b => a,
        (Kind::Null, other) | (other, Kind::Null) => other,
        _ => Kind::Any,
    }
}

/// Returns the kind of an operator's value.
pub(super) fn of_binary(operator: Operator, a: &Kind, b: &Kind) -> Result<Kind, String> {
    let sign = operator.sign();
    let (a_name, b_name) = (a.name(), b.name());
    let is_any = *a == Kind::Any || *b == Kind::Any;
    match operator {
        Operator::Equal | Operator::Unequal => match a.meets(b) {
            true => Ok(Kind::Bool),
            false => Err(format!("{a_name} is never equal to {b_name}")),
        },
        Operator::In => match b {
            Kind::Any => Ok(Kind::Bool),
            Kind::Map(_) if a.meets(&Kind::Text) => Ok(Kind::Bool),
            Kind::List(of) if a.meets(of) => Ok(Kind::Bool),
            Kind::List(of) => Err(format!("{a_name} is in no list of which an element is {}", of.name())),
            _ => Err(format!("`in` looks for {a_name} in a list, not in {b_name}")),
        },
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let has_order = |kind: &Kind| {
                matches!(
                    kind,
                    Kind::Any | Kind::Bool | Kind::Int | Kind::Double | Kind::Text | Kind::Word(_) | Kind::Duration
                )
            };
            match a.meets(b) && has_order(a) && has_order(b) {
                true => Ok(Kind::Bool),
                false => Err(format!("{a_name} and {b_name} have no order")),
            }
        }
        _ if is_any => Ok(Kind::Any),
        Operator::Add => match (a, b) {
            (Kind::List(one), Kind::List(other)) => {
                Ok(Kind::List(Box::new(joined((**one).clone(), (**other).clone()))))
            }
            (Kind::Int | Kind::Double | Kind::Duration, _) if a == b => Ok(a.clone()),
            (a, b) if a.is_text() && b.is_text() => Ok(Kind::Text),
            _ => Err(format!("`+` does not take {a_name} and {b_name}")),
        },
        Operator::Subtract if matches!(a, Kind::Int | Kind::Double | Kind::Duration) && a == b => Ok(a.clone()),
        Operator::Multiply | Operator::Divide if matches!(a, Kind::Int | Kind::Double) && a == b => Ok(a.clone()),
        Operator::Remainder if matches!((a, b), (Kind::Int, Kind::Int)) => Ok(Kind::Int),
        _ => Err(format!("`{sign}` does not take {a_name} and {b_name}")),
    }
}
