//! The commands, one in each file. A command turns arguments into a call of the library, and has
//! the answer printed.

mod admit;
mod clients;
mod config;
mod cookie;
mod diff;
mod explain;
#[cfg(feature = "net")]
mod fetch;
#[cfg(not(target_family = "wasm"))]
pub mod generate;
mod init;
#[cfg(not(target_family = "wasm"))]
mod lsp;
mod mask;
mod pick;
mod policy;
mod retry;
mod route;
#[cfg(feature = "net")]
mod serve;
mod several;
mod simulate;
mod test;
mod tree;
#[cfg(feature = "net")]
mod ui;
mod validate;
mod who;

use crate::args::{Command, ConfigCommand};
#[cfg(not(feature = "net"))]
use crate::io::live::missing;
use crate::{Error, Io};

/// Runs a command, and returns its exit code.
///
/// # Errors
/// The reason for which the command stops.
pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<u8, Error> {
    match command {
        Command::Validate(validate) => validate::run(validate, io),
        Command::Explain(explain) => explain::run(explain, io),
        Command::Clients(clients) => clients::run(clients, io),
        Command::Tree(tree) => tree::run(tree, io),
        Command::Route(route) => route::run(route, io),
        Command::Pick(pick) => pick::run(pick, io),
        Command::Admit(admit) => admit::run(admit, io),
        Command::Test(test) => test::run(test, io),
        Command::Simulate(simulate) => simulate::run(simulate, io),
        Command::Policy(policy) => policy::run(policy, io),
        Command::Retry(retry) => retry::run(retry, io),
        Command::Cookie(cookie) => cookie::run(cookie, io),
        Command::Init(init) => init::run(init, io),
        Command::Config(config) => match &config.command {
            ConfigCommand::Show(show) => config::run(show, io),
        },
        Command::Diff(diff) => diff::run(diff, io),
        Command::Who(who) => who::run(who, io),
        #[cfg(feature = "net")]
        Command::Fetch(fetch) => fetch::run(fetch, io),
        #[cfg(feature = "net")]
        Command::Serve(serve) => serve::run(serve, io),
        #[cfg(feature = "net")]
        Command::Ui(ui) => ui::run(ui, io),
        #[cfg(not(feature = "net"))]
        Command::Fetch(fetch) => Err(missing(&fetch.source)),
        #[cfg(not(feature = "net"))]
        Command::Serve(_) => Err(missing("xdsctl serve")),
        #[cfg(not(feature = "net"))]
        Command::Ui(_) => Err(missing("xdsctl ui")),
        #[cfg(not(target_family = "wasm"))]
        Command::Lsp(lsp) => lsp::run(lsp, io),
        #[cfg(not(target_family = "wasm"))]
        Command::Completions(completions) => generate::print_completions(completions, io),
        #[cfg(not(target_family = "wasm"))]
        Command::Generate(generate) => generate::run(generate, io),
        #[cfg(target_family = "wasm")]
        Command::Lsp(_) | Command::Completions(_) | Command::Generate(_) => Err(Error::Usage(
            "editors and shells speak to a program of their own machine".to_owned(),
        )),
        Command::Mask(mask) => mask::run(mask, io),
    }
}
