//! The functions of expressions: those that CEL and Kubernetes have, and those for addresses and
//! shares. Each may be called in both forms, `size(x)` and `x.size()`.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use super::budget::Budget;
use super::evaluate::Why;
use super::value::{Text, Value, nanoseconds};
use crate::schema::Kind;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::text::beginning;

/// The most characters of a text that an error quotes.
const QUOTED_CHARS: usize = 80;

/// What a function accepts as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A text.
    Text,
    /// A duration.
    Duration,
    /// A text, a list or a map.
    Sized,
    /// A list.
    List,
    /// A bool, a number, a text or a duration.
    Plain,
    /// A number, or the text of one.
    Number,
    /// A duration, or the text of one.
    DurationOrText,
}

/// What a function returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Double,
    /// A text.
    Text,
    /// A duration.
    Duration,
    /// A list of texts.
    Texts,
    /// An element of its list.
    Element,
    /// A list of the same kind as its list.
    Same,
}

type Call = for<'a> fn(&[Value<'a>], &mut Budget) -> Result<Value<'a>, Why>;

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The function's name.
    pub name: &'static str,
    /// The function's arguments, beginning with the value that it is called on.
    pub takes: &'static [Taken],
    /// What the function returns.
    pub gives: Given,
    /// What the function does, for the documentation.
    pub what: &'static str,
    pub(super) call: Call,
}

macro_rules! functions {
    ($($name:ident($($taken:ident),*) -> $given:ident $what:literal $call:expr;)+) => {
        /// All functions.
        pub static FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            takes: &[$(Taken::$taken),*],
            gives: Given::$given,
            what: $what,
            call: $call,
        }),+];
    };
}

functions! {
    size(Sized) -> Int "characters of a text, elements of a list, entries of a map" |args, _| match &args[0] {
        Value::Text(text) => Ok(Value::int(text.chars().count())),
        Value::List(list) => Ok(Value::int(list.len())),
        Value::Map(map) => Ok(Value::int(map.len())),
        other => Err(unfit(other)),
    };
    contains(Text, Text) -> Bool "says whether a text has another in it" |args, _| {
        Ok(Value::Bool(text(args, 0)?.contains(text(args, 1)?)))
    };
    startsWith(Text, Text) -> Bool "says whether a text begins with another" |args, _| {
        Ok(Value::Bool(text(args, 0)?.starts_with(text(args, 1)?)))
    };
    endsWith(Text, Text) -> Bool "says whether a text ends with another" |args, _| {
        Ok(Value::Bool(text(args, 0)?.ends_with(text(args, 1)?)))
    };
    lowerAscii(Text) -> Text "the text in small letters" |args, budget| made(text(args, 0)?.to_ascii_lowercase(), budget);
    upperAscii(Text) -> Text "the text in capital letters" |args, budget| made(text(args, 0)?.to_ascii_uppercase(), budget);
    trim(Text) -> Text "the text without blanks around it" |args, budget| made(text(args, 0)?.trim().to_owned(), budget);
    split(Text, Text) -> Texts "the parts of a text between separators" |args, budget| {
        let (of, separator) = (text(args, 0)?, text(args, 1)?);
        budget.take(of.len())?;
        if separator.is_empty() {
            return Err("the separator is empty".to_owned().into());
        }
        Ok(Value::list(of.split(separator).map(Value::text)))
    };
    join(List, Text) -> Text "the elements as one text, with a separator between them" |args, budget| {
        let mut all = String::new();
        for (number, one) in list(args, 0)?.iter().enumerate() {
            let Value::Text(one) = one else { return Err(unfit(one)) };
            all.push_str(if number > 0 { text(args, 1)? } else { "" });
            all.push_str(one);
            budget.text(one.len() + text(args, 1)?.len())?;
        }
        Ok(Value::text(all))
    };
    sum(List) -> Element "the sum of ints, doubles or durations; 0 of none" |args, budget| {
        let list = list(args, 0)?;
        budget.take(list.len())?;
        // The sum of no elements is of the kind that was known before, if it was.
        let mut sum = match list.first().or(args.get(1)) {
            Some(Value::Double(_)) => Value::Double(0.0),
            Some(Value::Duration(_)) => Value::Duration(0),
            _ => Value::Int(0),
        };
        for one in list {
            sum = match (sum, one) {
                (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(*b).ok_or_else(|| "the sum is beyond 64 bits".to_owned())?),
                (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
                (Value::Duration(a), Value::Duration(b)) => Value::Duration(a.saturating_add(*b)),
                (_, other) => return Err(unfit(other)),
            };
        }
        Ok(sum)
    };
    min(List) -> Element "the least element" |args, budget| extreme(list(args, 0)?, std::cmp::Ordering::Less, budget);
    max(List) -> Element "the greatest element" |args, budget| extreme(list(args, 0)?, std::cmp::Ordering::Greater, budget);
    distinct(List) -> Same "the list with each element once" |args, budget| {
        let mut kept: Vec<Value<'_>> = Vec::new();
        for one in list(args, 0)? {
            budget.take(1)?;
            let mut is_known = false;
            for known in &kept {
                budget.take(1)?;
                is_known = known.equals(one, budget)?;
                if is_known {
                    break;
                }
            }
            if !is_known {
                kept.push(one.clone());
            }
        }
        Ok(Value::List(kept.into()))
    };
    string(Plain) -> Text "the value as a text" |args, budget| match &args[0] {
        // A list may have the same thing in it many times, so its text may be of any size.
        Value::Null | Value::List(_) | Value::Map(_) | Value::Record(_) | Value::Object(_) => Err(unfit(&args[0])),
        plain => made(plain.to_string(), budget),
    };
    int(Number) -> Int "the number without its fraction, or the number in a text" |args, _| match &args[0] {
        Value::Int(number) => Ok(Value::Int(*number)),
        #[expect(clippy::cast_possible_truncation, reason = "checked")]
        Value::Double(number) if number.abs() < 9.2e18 => Ok(Value::Int(*number as i64)),
        Value::Text(text) => text.parse().map(Value::Int).map_err(|_| format!("`{}` is no whole number", short(text)).into()),
        other => Err(unfit(other)),
    };
    double(Number) -> Double "the number as a double, or the number in a text" |args, _| match &args[0] {
        Value::Text(text) => text.parse().map(Value::Double).map_err(|_| format!("`{}` is no number", short(text)).into()),
        other => other.number().map(Value::Double).ok_or_else(|| unfit(other)),
    };
    duration(DurationOrText) -> Duration "the duration that a text says, such as '30s' or '1.5h'" |args, _| match &args[0] {
        Value::Duration(of) => Ok(Value::Duration(*of)),
        Value::Text(text) => {
            let of = nanoseconds(text).ok_or_else(|| format!("`{}` is no duration", short(text)))?;
            Ok(Value::Duration(of))
        }
        other => Err(unfit(other)),
    };
    getSeconds(Duration) -> Int "the whole seconds of a duration" |args, _| whole(&args[0], 1_000_000_000);
    getMilliseconds(Duration) -> Int "the whole milliseconds of a duration" |args, _| whole(&args[0], 1_000_000);
    percent(Number) -> Double "the share that '30%', '1/4' or 30 (of 100) says, as 0.3, 0.25, 0.3" |args, _| {
        let share = match &args[0] {
            Value::Text(text) => share(text).ok_or_else(|| format!("`{}` is no share", short(text)))?,
            other => other.number().ok_or_else(|| unfit(other))? / 100.0,
        };
        Ok(Value::Double(share))
    };
    cidr(Text) -> Text "a range of addresses, such as '10.0.0.0/8', checked" |args, budget| {
        range(text(args, 0)?)?;
        made(text(args, 0)?.to_owned(), budget)
    };
    inRange(Text, Text) -> Bool "says whether an address, with a port or without, or a whole range, is in a range" |args, _| {
        is_in(text(args, 0)?, range(text(args, 1)?)?)
    };
    containsIP(Text, Text) -> Bool "the same the other way round: cidr('10.0.0.0/8').containsIP(address)" |args, _| {
        is_in(text(args, 1)?, range(text(args, 0)?)?)
    };
    isPrivate(Text) -> Bool "says whether an address, with a port or without, is of a private network, a loopback or link-local" |args, _| {
        let (ip, _) = address(text(args, 0)?)?;
        Ok(Value::Bool(match ip {
            IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
        }))
    };
    port(Text) -> Int "the port of an address" |args, _| {
        let (_, port) = address(text(args, 0)?)?;
        let port = port.ok_or_else(|| "the address has no port".to_owned())?;
        Ok(Value::Int(i64::from(port)))
    };
}

impl Function {
    /// Returns the kind of its value for arguments of these kinds.
    ///
    /// # Errors
    /// Fails with the number of the argument that does not fit, and why.
    pub(super) fn result(&self, kinds: &[Kind]) -> Result<Kind, (Option<usize>, String)> {
        let name = self.name;
        if kinds.len() != self.takes.len() {
            let (wanted, found) = (self.takes.len(), kinds.len());
            let message = format!("{name}() takes {wanted} values, what it is called on counted, and not {found}");
            return Err((None, message));
        }
        for (number, (taken, kind)) in self.takes.iter().zip(kinds).enumerate() {
            let fits = matches!(kind, Kind::Any)
                || match taken {
                    Taken::Text => kind.is_text(),
                    Taken::Duration => *kind == Kind::Duration,
                    Taken::Sized => kind.is_text() || matches!(kind, Kind::List(_) | Kind::Map(_)),
                    Taken::List => matches!(kind, Kind::List(_)),
                    Taken::Plain => {
                        kind.is_text() || matches!(kind, Kind::Bool | Kind::Int | Kind::Double | Kind::Duration)
                    }
                    Taken::Number => kind.is_text() || matches!(kind, Kind::Int | Kind::Double),
                    Taken::DurationOrText => kind.is_text() || matches!(kind, Kind::Duration),
                };
            if !fits {
                let hint = match (name, kind) {
                    ("contains", Kind::List(_)) => ": `in` says whether a list has an element",
                    _ => "",
                };
                return Err((Some(number), format!("{name}() does not take {}{hint}", kind.name())));
            }
        }
        Ok(match (self.gives, kinds.first()) {
            (Given::Bool, _) => Kind::Bool,
            (Given::Int, _) => Kind::Int,
            (Given::Double, _) => Kind::Double,
            (Given::Text, _) => Kind::Text,
            (Given::Duration, _) => Kind::Duration,
            (Given::Texts, _) => Kind::List(Box::new(Kind::Text)),
            (Given::Element, Some(Kind::List(of))) => (**of).clone(),
            (Given::Same, Some(list)) => list.clone(),
            (Given::Element | Given::Same, _) => Kind::Any,
        })
    }
}

pub(super) fn unfit(value: &Value<'_>) -> Why {
    let hint = match value {
        Value::Null => ": has() says whether there is something",
        _ => "",
    };
    Why::Failed(format!("it does not take {}{hint}", value.kind()))
}

fn text<'v>(args: &'v [Value<'_>], number: usize) -> Result<&'v str, Why> {
    match &args[number] {
        Value::Text(text) => Ok(text),
        other => Err(unfit(other)),
    }
}

/// Returns the beginning of a text, to be quoted.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    beginning(text, QUOTED_CHARS)
}

fn list<'v, 'a>(args: &'v [Value<'a>], number: usize) -> Result<&'v [Value<'a>], Why> {
    match &args[number] {
        Value::List(list) => Ok(list),
        other => Err(unfit(other)),
    }
}

fn made<'a>(text: String, budget: &mut Budget) -> Result<Value<'a>, Why> {
    budget.text(text.len())?;
    Ok(Value::Text(Text::Made(text.into())))
}

fn whole<'a>(value: &Value<'_>, unit: i128) -> Result<Value<'a>, Why> {
    match value {
        Value::Duration(of) => Ok(Value::int(*of / unit)),
        other => Err(unfit(other)),
    }
}

fn extreme<'a>(list: &[Value<'a>], wanted: std::cmp::Ordering, budget: &mut Budget) -> Result<Value<'a>, Why> {
    budget.take(list.len())?;
    let (mut best, rest) = list.split_first().ok_or_else(|| "the list is empty".to_owned())?;
    for one in rest {
        if one.order(best).ok_or_else(|| unfit(one))? == wanted {
            best = one;
        }
    }
    Ok(best.clone())
}

/// Reads the share in a text: `30%`, `1/4`, `0.5`.
fn share(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(percent) = text.trim().strip_suffix('%') {
        return Some(number(percent)? / 100.0);
    }
    match text.split_once('/') {
        Some((part, whole)) => Some(number(part)? / number(whole).filter(|whole| *whole != 0.0)?),
        None => number(text),
    }
}

/// Reads the address in a text, and its port if there is one.
fn address(text: &str) -> Result<(IpAddr, Option<u16>), Why> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok((address.ip(), Some(address.port())));
    }
    let ip = text.trim_start_matches('[').trim_end_matches(']').parse();
    ip.map(|ip| (ip, None))
        .map_err(|_| format!("`{}` is no address", short(text)).into())
}

pub(super) fn range(text: &str) -> Result<Cidr, String> {
    let parts = text.split_once('/');
    let range = parts.and_then(|(ip, length)| Some((ip.parse::<IpAddr>().ok()?, length.parse::<u32>().ok()?)));
    let fits = |(ip, length): &(IpAddr, u32)| *length <= if ip.is_ipv4() { 32 } else { 128 };
    let (ip, length) = range
        .filter(fits)
        .ok_or_else(|| format!("`{}` is no range of addresses", short(text)))?;
    Ok(Cidr::new(SocketAddr::new(ip, 0), length))
}

/// Says whether an address or a range is in a range.
pub(super) fn is_in<'a>(inner: &str, outer: Cidr) -> Result<Value<'a>, Why> {
    let is_in = match inner.contains('/') {
        true => outer.covers(range(inner)?),
        false => outer.contains(address(inner)?.0),
    };
    Ok(Value::Bool(is_in))
}
