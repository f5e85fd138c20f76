//! Who gains and who loses access to servers, for people.

use std::io::{self, Write};

use super::{ADDED, CHANGED, Compared, DiffStyle, HEAD, REMOVED};
use crate::admit::cells;
use anstyle::{AnsiColor, Style};
use xdsctl_lint::diff::access::ServerAccess;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_server::who::{Access, AccessBy, ChainAccess, ChainSide, HostAccess, MethodAccess};

/// The style for what everyone may call.
const LOUD: Style = AnsiColor::Red.on_default().bold();

/// Writes who gains and who loses access, if anybody does.
pub(crate) fn write(compared: &Compared, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    if compared.diff.access.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    say!(out, "{}", style.paint(HEAD, "For servers"))?;
    compared
        .diff
        .access
        .iter()
        .try_for_each(|server| of_server(server, style, out))
}

/// Writes what changes for one server, beginning with what everyone gains.
pub(crate) fn of_server(server: &ServerAccess, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    say!(out, "  {}", server.listener)?;
    let Some(changes) = &server.changes else {
        return say!(out, "    there is too much to say who gains and who loses access");
    };
    if let Some(words) = opened(server) {
        say!(out, "    {}", style.paint(LOUD, &words))?;
    }
    for chain in &changes.chains {
        of_chain(chain, style, out)?;
    }
    if changes.is_limit_reached {
        let words = "there is too much to compare: some of this may have been so before";
        say!(out, "    {words}")?;
    }
    if changes.is_cut {
        let words = "there is too much to compare: others may gain or lose access that are not listed";
        say!(out, "    {words}")?;
    }
    Ok(())
}

/// Says what everyone may call now, and could not before.
pub(crate) fn opened(server: &ServerAccess) -> Option<String> {
    let mut opened: Vec<String> = Vec::new();
    for class in server.changes.iter().flat_map(|changes| changes.opened()) {
        let name = cells::class(class, false);
        if !opened.contains(&name) {
            opened.push(name);
        }
    }
    (!opened.is_empty()).then(|| format!("EVERYONE may call now: {}", opened.join(", ")))
}

fn of_chain(chain: &ChainAccess, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let side = |side: Option<ChainSide>| match side {
        Some(side) => (chain_place(side.index), cells::asked(side.asks)),
        None => ("no chain".to_owned(), "closed"),
    };
    let (was, is) = (side(chain.chains.0), side(chain.chains.1));
    let changed = |one: &str, other: &str| match one == other {
        true => one.to_owned(),
        false => style.paint(CHANGED, &format!("{one} → {other}")),
    };
    let what = format!("{}: {}", changed(&was.0, &is.0), changed(was.1, is.1));
    say!(out, "    {what}")?;
    let connections = cells::connections(&chain.connections);
    style.each(&connections, "kinds of connections", out, |line, out| {
        match line.as_str() {
            cells::EVERY_CONNECTION => Ok(()),
            line => say!(out, "      {line}"),
        }
    })?;
    chain.hosts.iter().try_for_each(|host| of_host(host, style, out))
}

fn of_host(host: &HostAccess, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    if host.domains != ["*"] {
        say!(out, "      authority {}", host.domains.join(", "))?;
    }
    style.each(&host.methods, "methods", out, |method, out| {
        of_method(method, style, out)
    })
}

fn of_method(method: &MethodAccess, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    say!(out, "      {}", cells::class(&method.class, false))?;
    let lines = [
        ("+ gains", ADDED, &method.gains),
        ("- loses", REMOVED, &method.loses),
        ("= keeps", Style::new(), &method.keeps),
    ];
    for (sign, colour, list) in lines {
        style.each(list, "of them", out, |access, out| {
            let line = format!("{sign}: {}", words(access, sign == "- loses"));
            say!(out, "        {}", style.paint(colour, &line))
        })?;
    }
    Ok(())
}

/// Says who gains or loses access, and by which policy.
pub(crate) fn words(access: &Access, loses: bool) -> String {
    let who = cells::grant(&access.row, access.asks);
    match (access.by, loses) {
        (AccessBy::LetIn, _) => who,
        (AccessBy::Denied, true) => format!("{who}; it denies now"),
        (AccessBy::Denied, false) => format!("{who}; it denied before"),
        (AccessBy::BadCertificate, _) => format!("{who}, with a certificate that the server would not take"),
        (AccessBy::Certificate, true) => format!("{who}, without a certificate"),
        (AccessBy::Certificate, false) => format!("{who}, without a certificate, too"),
    }
}
