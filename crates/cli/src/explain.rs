//! `xdsctl explain`: a rule's page, the list of rules, or the rules that a client's message is about.

use super::args::{ExplainArgs, Format};
use super::{Error, Io};
use crate::report::explain;
use xdsctl::catalogue;

pub(super) fn run(args: &ExplainArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.list {
        let rules: Vec<_> = catalogue::rules().collect();
        match args.format {
            Format::Human => explain::write_list(io.width, &mut io.out)?,
            Format::Json => explain::write_json(&rules, &mut io.out)?,
        }
        return Ok(0);
    }
    let wanted = args.rule.join(" ");
    if wanted.is_empty() {
        return Err(Error::Usage("name a rule, or use --list".to_owned()));
    }
    let rules = match catalogue::find(&wanted) {
        Some(rule) => vec![rule],
        None => catalogue::search(&wanted),
    };
    match (rules.as_slice(), args.format) {
        ([], _) => {
            let hint = catalogue::nearest(&wanted).map_or_else(
                || "explain --list names all rules".to_owned(),
                |id| format!("did you mean `{id}`?"),
            );
            Err(Error::Usage(format!("no rule `{wanted}`: {hint}")))
        }
        (rules, Format::Json) => {
            explain::write_json(rules, &mut io.out)?;
            Ok(0)
        }
        ([rule], Format::Human) => {
            explain::write_rule(rule, &mut io.out)?;
            Ok(0)
        }
        (rules, Format::Human) => {
            for rule in rules {
                writeln!(io.out, "{}: {}", rule.id, rule.summary.trim())?;
            }
            Ok(0)
        }
    }
}
