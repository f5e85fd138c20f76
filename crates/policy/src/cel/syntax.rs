//! From the tokens of an expression to its tree, whose depth is limited by a constant.

use std::ops::Range;

use super::Fault;
use super::token::{Token, tokens};

/// The most bytes of an expression.
pub const MAX_BYTES: usize = 8 << 10;

/// The most operators, calls, fields and brackets inside each other.
pub const MAX_DEPTH: usize = 100;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub span: Range<usize>,
    pub kind: ExprKind,
    /// The depth to which parts are nested, counting the expression itself.
    pub depth: usize,
}

/// A name with its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    pub text: String,
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    Ident(String),
    Select(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Call(Option<Box<Expr>>, Name, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Binary(Operator, Box<[Expr; 2]>),
    If(Box<[Expr; 3]>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub const fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::In => "in",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }

    /// Returns how strongly it binds.
    const fn strength(self) -> usize {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide | Operator::Remainder => 2,
            _ => 0,
        }
    }
}

/// Words that cannot be names.
const RESERVED: [&str; 6] = ["in", "as", "break", "for", "if", "var"];

/// Parses an expression into a tree.
pub(super) fn parse(text: &str) -> Result<Expr, Fault> {
    if text.len() > MAX_BYTES {
        let message = format!("the expression has more than {MAX_BYTES} bytes, the limit");
        return Err(Fault::new(&(0..0), message));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        level: 0,
    };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    level: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Range<usize> {
        self.tokens
            .get(self.at)
            .map(|(_, span)| span.clone())
            .unwrap_or_default()
    }

    fn before(&self) -> usize {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(0, |(_, span)| span.end)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.peek(), Token::Sign(next) if *next == sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let message = match self.peek() {
            Token::End => format!("the expression ends where {wanted} should be"),
            Token::Sign("=") => "a comparison is written `==`".to_owned(),
            _ => format!("{wanted} should be here"),
        };
        Fault::new(&self.span(), message)
    }

    fn make(&self, start: usize, kind: ExprKind) -> Result<Expr, Fault> {
        let of = |expr: &Expr| expr.depth;
        let depth = match &kind {
            ExprKind::Select(a, _) | ExprKind::Not(a) | ExprKind::Negate(a) => a.depth,
            ExprKind::Index(a, b) => a.depth.max(b.depth),
            ExprKind::Call(target, _, args) => target
                .iter()
                .map(|t| of(t))
                .chain(args.iter().map(of))
                .max()
                .unwrap_or(0),
            ExprKind::And(all) | ExprKind::Or(all) | ExprKind::List(all) => all.iter().map(of).max().unwrap_or(0),
            ExprKind::Binary(_, two) => two.iter().map(of).max().unwrap_or(0),
            ExprKind::If(three) => three.iter().map(of).max().unwrap_or(0),
            ExprKind::Map(entries) => entries.iter().map(|(k, v)| k.depth.max(v.depth)).max().unwrap_or(0),
            _ => 0,
        };
        let span = start..self.before();
        match depth < MAX_DEPTH {
            true => Ok(Expr {
                span,
                kind,
                depth: depth + 1,
            }),
            false => Err(too_deep(&span)),
        }
    }

    /// Reads one bracket deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.level += 1;
        if self.level > MAX_DEPTH {
            return Err(too_deep(&self.span()));
        }
        let read = read(self);
        self.level -= 1;
        read
    }

    fn expression(&mut self) -> Result<Expr, Fault> {
        self.deeper(|parser| {
            let start = parser.span().start;
            let condition = parser.chain(true)?;
            if !parser.eat("?") {
                return Ok(condition);
            }
            let then = parser.chain(true)?;
            parser.expect(":")?;
            let otherwise = parser.expression()?;
            parser.make(start, ExprKind::If(Box::new([condition, then, otherwise])))
        })
    }

    /// Reads `a || b`, or `a && b` within that.
    fn chain(&mut self, is_or: bool) -> Result<Expr, Fault> {
        let start = self.span().start;
        let read = |parser: &mut Self| match is_or {
            true => parser.chain(false),
            false => parser.binary(0),
        };
        let sign = if is_or { "||" } else { "&&" };
        let mut all = vec![read(self)?];
        while self.eat(sign) {
            all.push(read(self)?);
        }
        match (all.len(), is_or) {
            (1, _) => all.pop().ok_or_else(|| self.unexpected("a value")),
            (_, true) => self.make(start, ExprKind::Or(all)),
            (_, false) => self.make(start, ExprKind::And(all)),
        }
    }

    fn operator(&self) -> Option<Operator> {
        let operators = [
            Operator::Equal,
            Operator::Unequal,
            Operator::Less,
            Operator::LessOrEqual,
            Operator::Greater,
            Operator::GreaterOrEqual,
            Operator::Add,
            Operator::Subtract,
            Operator::Multiply,
            Operator::Divide,
            Operator::Remainder,
        ];
        match self.peek() {
            Token::Sign(sign) => operators.into_iter().find(|operator| operator.sign() == *sign),
            Token::Name(name) if name == "in" => Some(Operator::In),
            _ => None,
        }
    }

    /// Reads operators that bind at least this strongly, from left to right.
    fn binary(&mut self, least: usize) -> Result<Expr, Fault> {
        let start = self.span().start;
        let mut left = self.unary()?;
        while let Some(operator) = self.operator().filter(|operator| operator.strength() >= least) {
            self.at += 1;
            let right = self.binary(operator.strength() + 1)?;
            left = self.make(start, ExprKind::Binary(operator, Box::new([left, right])))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let start = self.span().start;
        if self.eat("!") {
            let of = self.deeper(Self::unary)?;
            return self.make(start, ExprKind::Not(Box::new(of)));
        }
        if self.eat("-") {
            let of = self.deeper(Self::unary)?;
            return match of.kind {
                ExprKind::Int(number) => self.make(start, ExprKind::Int(-number)),
                ExprKind::Double(number) => self.make(start, ExprKind::Double(-number)),
                _ => self.make(start, ExprKind::Negate(Box::new(of))),
            };
        }
        self.member()
    }

    fn member(&mut self) -> Result<Expr, Fault> {
        let start = self.span().start;
        let mut expr = self.primary()?;
        loop {
            if self.eat(".") {
                let span = self.span();
                let Token::Name(text) = self.next() else {
                    self.at -= 1;
                    return Err(self.unexpected("the name of a field"));
                };
                let name = Name { text, span };
                let kind = match self.eat("(") {
                    true => ExprKind::Call(Some(Box::new(expr)), name, self.list(")", Self::expression)?),
                    false => ExprKind::Select(Box::new(expr), name),
                };
                expr = self.make(start, kind)?;
            } else if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.make(start, ExprKind::Index(Box::new(expr), Box::new(index)))?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let span = self.span();
        let kind = match self.next() {
            Token::Int(number) => ExprKind::Int(number),
            Token::Double(number) => ExprKind::Double(number),
            Token::Text(text) => ExprKind::Text(text),
            Token::Name(name) => match name.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "null" => ExprKind::Null,
                word if RESERVED.contains(&word) => {
                    return Err(Fault::new(&span, format!("`{word}` is no name in CEL")));
                }
                _ if self.eat("(") => {
                    let name = Name {
                        text: name,
                        span: span.clone(),
                    };
                    ExprKind::Call(None, name, self.list(")", Self::expression)?)
                }
                _ => ExprKind::Ident(name),
            },
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => ExprKind::List(self.list("]", Self::expression)?),
            Token::Sign("{") => ExprKind::Map(self.list("}", Self::entry)?),
            Token::Sign(_) | Token::End => {
                self.at -= 1;
                return Err(self.unexpected("a value"));
            }
        };
        self.make(span.start, kind)
    }

    /// Reads values up to a bracket, with commas between them.
    fn list<T>(&mut self, end: &str, read: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut list = Vec::new();
        while !self.eat(end) {
            list.push(read(self)?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(list)
    }

    fn entry(&mut self) -> Result<(Expr, Expr), Fault> {
        let key = self.expression()?;
        self.expect(":")?;
        Ok((key, self.expression()?))
    }
}

pub(super) fn too_deep(span: &Range<usize>) -> Fault {
    Fault::new(
        span,
        format!("more than {MAX_DEPTH} parts inside each other, those of variables counted, the limit"),
    )
}
