//! `xdsctl route`: which route takes an RPC, and why not the others.

use std::io::Write;

use super::several::{self, ClientsQuestion};
use crate::args::{Format, RouteArgs};
use crate::session::{self, words};
use crate::{Error, Io};
use xdsctl_channel::rpc::{ChannelFacts, PLUGIN_PREFIX, Selection, Selector};
use xdsctl_channel::session::Session;
use xdsctl_model::status::Status;
use xdsctl_report::channel::layers::Question;
use xdsctl_report::channel::route::{self, RouteAnswer};
use xdsctl_report::channel::route_json;
use xdsctl_report::told::Told;

pub(super) fn run(args: &RouteArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let asked = ClientsQuestion::of_channel(Question::Route, &args.channel, args.format == Format::Json);
    several::run(asked, io, &mut |one, told, io| {
        let mut args = args.clone();
        one.put_into(&mut args.channel.client);
        answer(&args, told, io)
    })
}

fn answer(args: &RouteArgs, told: &mut Told, io: &mut Io<'_>) -> Result<u8, Error> {
    let headers = session::headers(&args.request)?;
    session::refuse_method("route", &args.channel.input.files)?;
    let opened = session::open_for(&args.channel, &args.request, io)?;
    let config = match &opened.config {
        Ok(config) => std::sync::Arc::clone(config),
        Err(failure) => {
            let status = failure.status();
            let document = || route_json::failure(&status, args.request.seed);
            told.tell(&mut io.out, document, |out| say!(out, "{status}"))?;
            words::say_hint(&opened, io)?;
            return Ok(session::exit(true));
        }
    };
    let request = session::request(&args.request, &headers);
    let selector = Selector::new(config);
    let mut tried = Vec::new();
    let selected = selector.select_first(&request, args.request.seed, Some(&mut tried));
    let unanswered = words::unanswered(&opened);
    let failure = match &selected {
        Ok(selection) => verdict(selection, opened, args)?,
        Err(refusal) => Some(refusal.status(selector.config().asked, request.path)),
    };
    let answer = RouteAnswer {
        failure: failure.as_ref(),
        selector: &selector,
        request: &request,
        channel: ChannelFacts::of_seed(args.request.seed),
        tried: &tried,
        selected: &selected,
        seed: args.request.seed,
        shows_secrets: args.channel.input.show_secrets,
    };
    let colours = io.colours(args.color);
    let write_text = |out: &mut dyn Write| route::write_text(&answer, colours, out);
    told.tell(&mut io.out, || route_json::document(&answer), write_text)?;
    if let (Some(_), Some(unanswered)) = (&failure, unanswered) {
        say!(io.err, "help: {unanswered}")?;
    }
    Ok(session::exit(failure.is_some()))
}

/// Returns the status of an RPC that fails although a route takes it: by a fault filter, or because
/// no pick can succeed.
fn verdict(selection: &Selection<'_>, opened: Session, args: &RouteArgs) -> Result<Option<Status>, Error> {
    if let Some(abort) = &selection.fault.abort {
        return Ok(Some(abort.clone()));
    }
    let plugin = selection.selected_key.strip_prefix(PLUGIN_PREFIX);
    if let (Some(plugin), Ok(config)) = (plugin, &opened.config)
        && config.default_target(plugin).is_none()
    {
        // It is not known what the lookup service answers.
        return Ok(None);
    }
    let rpc = session::rpc(&args.request)?;
    Ok(opened.failure(rpc, args.request.seed)?)
}
