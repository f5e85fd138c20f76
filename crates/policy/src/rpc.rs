//! `rpc`: how an RPC of a suite ended.

use crate::cel::{Budget, Evaluation, EvaluationStop, Fault, Program, Scope, Scratch, Value, View};
use crate::schema::Kind;
use crate::view::{optional, text};
use xdsctl_channel::sim::Outcome;

/// An RPC that has ended.
#[derive(Debug, Clone, Copy)]
pub struct EndedRpc<'r> {
    /// How the RPC ended.
    pub outcome: &'r Outcome,
    /// The backend of the RPC before it in its jar, if that was another one.
    pub moved_from: Option<&'r str>,
}

/// Reads an expression about an RPC.
///
/// # Errors
/// Fails if it is not CEL, names something that does not exist, or is not a bool.
pub fn of_rpc(text: &str) -> Result<Program, Fault> {
    let scope = Scope {
        roots: vec![("rpc", Kind::Object("rpc"))],
        variables: Vec::new(),
    };
    Program::of_kind(text, &scope, &[], &Kind::Bool)
}

/// Says whether an expression is true of an RPC.
///
/// # Errors
/// Fails if it cannot be evaluated, and says why.
pub fn is_true_of(program: &Program, rpc: EndedRpc<'_>) -> Result<bool, String> {
    let rpc = Value::object(rpc);
    let root = |_| &rpc;
    let mut budget = Budget::new(u64::MAX);
    budget.begin();
    match Evaluation::new(&root, &[], &mut budget, &mut Scratch::default()).value(program) {
        Ok(Value::Bool(flag)) => Ok(flag),
        Ok(other) => Err(format!("the expression is {}, and must be a bool", other.kind())),
        Err(EvaluationStop::Failed(failure)) => Err(match failure.is_null {
            true => format!("null {}: has() says whether there is something", failure.why),
            false => failure.why,
        }),
        Err(EvaluationStop::Limit) => Err("the expression takes more steps than there may be".to_owned()),
    }
}

impl<'r> View<'r> for EndedRpc<'r> {
    fn get(&self, field: &str) -> Value<'r> {
        let outcome = self.outcome;
        match field {
            "status" => text(outcome.code.name()),
            "message" => text(&outcome.details),
            "attempts" => Value::int(outcome.attempts.len()),
            "addresses" => Value::list(outcome.attempts.iter().map(|address| text(address))),
            "backend" => match outcome.attempts.last() {
                Some(_) => Value::object(Backend(outcome)),
                None => Value::Null,
            },
            "cluster" => optional(outcome.cluster.as_deref(), text),
            "virtual_host" => optional(outcome.virtual_host.as_deref(), text),
            "route" => optional(outcome.route, Value::int),
            "route_name" => {
                let name = outcome.route_name.as_deref();
                optional(name.filter(|name| !name.is_empty()), text)
            }
            "authority" => optional(outcome.authority.as_deref(), text),
            "duration" => Value::Duration(i128::from(outcome.ended - outcome.began) * 1_000_000),
            "began" => Value::Duration(i128::from(outcome.began) * 1_000_000),
            "moved_from" => optional(self.moved_from, text),
            "set_cookie" => Value::Bool(!outcome.set_cookie.is_empty()),
            _ => Value::Null,
        }
    }
}

struct Backend<'r>(&'r Outcome);

impl<'r> View<'r> for Backend<'r> {
    fn get(&self, field: &str) -> Value<'r> {
        let place = self.0.place.as_ref();
        match field {
            "address" => optional(self.0.attempts.last(), |address| text(address)),
            "cluster" => text(place.map_or("", |place| &place.cluster)),
            "locality" => Value::object(LocalityText(place.map_or("", |place| &place.locality))),
            _ => Value::Null,
        }
    }
}

/// A locality, as `REGION/ZONE/SUB_ZONE`.
struct LocalityText<'r>(&'r str);

impl<'r> View<'r> for LocalityText<'r> {
    fn get(&self, field: &str) -> Value<'r> {
        let mut parts = self.0.splitn(3, '/');
        let number = match field {
            "region" => 0,
            "zone" => 1,
            "sub_zone" => 2,
            _ => return Value::Null,
        };
        text(parts.nth(number).unwrap_or_default())
    }
}
