//! Plays a test of a server.

use super::check::{Saw, ServerCheckKind};
use super::cover;
use super::{Action, ServerStep, ServerTest, TestRpc};
use crate::coverage::Coverage;
use crate::run::{Failure, Played, RunOptions, TestStop, failure};
use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::rpc::Draws;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_model::resource::rbac::RbacAction;
use xdsctl_server::admit::{self, Handled};
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::policy::Asked;
use xdsctl_server::routing::Routes;
use xdsctl_server::running::{Called, RunningServer, Setup};
use xdsctl_server::{Connection, End, words};

/// The most policies that a failure names.
const MAX_NAMED: usize = 5;

/// Why an expectation of a server's test is not recorded.
const NOT_RECORDED: &str = "what is expected of a server is not recorded";

/// Plays a test of a server that has the resources that `client` holds.
pub fn run_server(test: &ServerTest, client: Client, server: ListeningServer, run_options: RunOptions) -> Played {
    let planned = &test.server;
    let mut played = Played::default();
    let Some(dialect) = ServerDialect::of(&client.profile) else {
        played.stop = Some(TestStop {
            span: planned.span,
            why: format!("what a server of {} does is not known", client.profile.name()),
        });
        return played;
    };
    let setup = Setup {
        has_no_template: false,
        has_no_credentials: planned.has_no_credentials,
        at: planned.at,
        providers: planned.providers.clone(),
        drain_grace: planned.drain_grace,
    };
    let mut run = Run {
        server: RunningServer::new(client, server, dialect, setup),
        draws: Draws::new(0),
        coverage: run_options.covers.then(Coverage::default),
        rpcs: 0,
    };
    for step in &test.steps {
        run.configuration();
        let saw = match run.step(step) {
            Ok(saw) => saw,
            Err(why) => {
                played.stop = Some(TestStop { span: step.span, why });
                break;
            }
        };
        let serves = run.serves();
        for check in &step.expect {
            played.checks += 1;
            let state = |name: &str| run.server.state(name);
            if let Some(happened) = saw.instead(&check.what, &state, &serves) {
                played.failures.push(Failure {
                    value: check.value,
                    recorded: run_options.records.then_some(Err(NOT_RECORDED)),
                    ..failure(check.span, 1, &happened)
                });
            }
        }
        let expects_nack = step
            .expect
            .iter()
            .any(|check| matches!(check.what, ServerCheckKind::Nack(_)));
        if !expects_nack {
            played.notes.extend(saw.notes.into_iter().map(|note| (step.span, note)));
        }
    }
    run.configuration();
    played.coverage = run.coverage.take().unwrap_or_default();
    played.rpcs = run.rpcs;
    played.ended = run.server.now();
    played
}

struct Run {
    server: RunningServer,
    draws: Draws,
    coverage: Option<Coverage>,
    rpcs: u64,
}

impl Run {
    /// Says why the server does not serve, if it does not.
    fn serves(&self) -> Result<(), String> {
        let serving = self.server.serving();
        serving
            .map(|_| ())
            .map_err(|why| words::not_serving(&self.server.server, &why))
    }

    /// Adds the parts of the configuration in use to the coverage.
    fn configuration(&mut self) {
        if let (Some(coverage), Ok(serving)) = (&mut self.coverage, self.server.serving()) {
            let name = &self.server.server.listener;
            cover::listener(name, &serving.listener, &self.server.client, coverage);
        }
    }

    fn step(&mut self, step: &ServerStep) -> Result<Saw, String> {
        let mut saw = Saw::default();
        match &step.action {
            None => {}
            Some(Action::Connect { name, connection }) => return Ok(self.connect(name, connection)),
            Some(Action::Call { on, call }) => {
                let rpc = self.rpc(on, call);
                let draws = &mut self.draws;
                let called = self
                    .server
                    .call(on, &rpc, &mut |purpose, bound| draws.draw(purpose, bound));
                self.rpcs += 1;
                return Ok(self.saw(on, &rpc, called));
            }
            Some(Action::Begin { name, on, call }) => {
                let rpc = self.rpc(on, call);
                let draws = &mut self.draws;
                let draw = &mut |purpose, bound| draws.draw(purpose, bound);
                self.server.begin(name, on, &rpc, draw);
            }
            Some(Action::Finish(name)) => {
                let (on, rpc, called) = self.server.finish(name).ok_or("there is no RPC of this name")?;
                self.rpcs += 1;
                return Ok(self.saw(&on, &rpc, called));
            }
            Some(Action::Update(sent)) => {
                let updated = self.server.update(sent);
                let faults = updated.nacked.iter().flat_map(|nacked| &nacked.faults);
                saw.nacked = faults.map(|(rule, _)| rule.id).collect();
                saw.notes = updated.notes;
            }
            Some(Action::Remove(names)) => self.server.remove(names),
            Some(Action::Rotate(files)) => {
                for (provider, files) in files {
                    self.server.rotate(provider, files.clone())?;
                }
            }
            Some(Action::Sleep(milliseconds)) => self.server.sleep(*milliseconds),
        }
        Ok(saw)
    }

    fn connect(&mut self, name: &str, connection: &Connection) -> Saw {
        let mut connection = connection.clone();
        let own: Option<std::net::SocketAddr> = self.server.server.address.parse().ok();
        if connection.to.ip().is_unspecified() {
            let given = own.map(|own| own.ip()).filter(|ip| !ip.is_unspecified());
            connection
                .to
                .set_ip(given.unwrap_or(std::net::Ipv4Addr::LOCALHOST.into()));
        }
        if connection.to.port() == 0 {
            connection.to.set_port(own.map_or(0, |own| own.port()));
        }
        let end = self.server.connect(name, connection);
        let mut saw = Saw {
            words: self.words(&end, None),
            end: Some(end),
            ..Saw::default()
        };
        if let Some(open) = self.server.connection(name) {
            saw.chain = Some((chain_place(open.index), open.chain.name.clone()));
            saw.shows = self.server.shows(&open.chain);
            if let Some(coverage) = &mut self.coverage {
                cover::connected(&self.server.server.listener, open.index, coverage);
            }
        }
        saw
    }

    fn rpc(&self, on: &str, call: &TestRpc) -> xdsctl_server::Rpc {
        let mut rpc = call.rpc.clone();
        if !call.has_authority {
            rpc.authority.clone_from(&self.server.server.address);
        }
        let open = self.server.connection(on);
        rpc.is_https = open.is_some_and(|open| open.peer() != xdsctl_server::handshake::Peer::Plaintext);
        rpc
    }

    /// Returns what an RPC led to.
    fn saw(&mut self, on: &str, rpc: &xdsctl_server::Rpc, called: Called) -> Saw {
        let Called { end, handled } = called;
        let mut saw = Saw {
            words: self.words(&end, None),
            end: Some(end),
            ..Saw::default()
        };
        let (Some(open), Some(handled)) = (self.server.connection(on), handled) else {
            return saw;
        };
        let asked = Asked {
            connection: &open.connection,
            peer: open.peer(),
            rpc,
            dialect: &self.server.dialect,
        };
        saw.chain = Some((chain_place(open.index), open.chain.name.clone()));
        let mut matched = Vec::new();
        for (look, decision) in admit::decisions(&handled, asked) {
            let Some(decision) = decision else { continue };
            saw.policy = decision.matched().map(|policy| policy.name.to_owned());
            if let Some(policy) = &saw.policy {
                matched.push((look.name.as_str(), look.config_level, policy.clone()));
            }
            if !decision.is_allowed {
                let why = match (decision.action, &saw.policy) {
                    (RbacAction::Deny, Some(policy)) => format!("policy `{policy}` of `{}` matches", look.name),
                    _ => {
                        let names: Vec<&str> = decision.policies.iter().map(|policy| policy.name).collect();
                        let more = if names.len() > MAX_NAMED { ", ..." } else { "" };
                        let shown = names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join("`, `");
                        match names.is_empty() {
                            true => format!("`{}` has no policies", look.name),
                            false => format!("of `{}` none of `{shown}`{more} matches", look.name),
                        }
                    }
                };
                saw.words = self.words(saw.end.as_ref().unwrap_or(&End::Closed), Some(&why));
            }
        }
        named(&handled, &mut saw);
        if let Some(coverage) = &mut self.coverage {
            let place = (self.server.server.listener.as_str(), open.index, &open.chain);
            cover::called(place, &handled, &matched, coverage);
        }
        saw
    }

    /// Says how something ends.
    fn words(&self, end: &End, why: Option<&str>) -> String {
        let name = end.name();
        match (end, why) {
            (End::NotServing(why), _) => words::not_serving(&self.server.server, why),
            (End::HandshakeFailed(fault), _) => format!("{name}: {}", words::handshake_fault(fault)),
            (End::Refused(status), Some(why)) => format!("{name}, {why}: {}", status.code.name()),
            (End::Refused(status), None) => format!("{name}, {}: {}", status.code.name(), status.message),
            (End::Ended(words), _) => format!("{name}: {words}"),
            (End::Closed | End::Connected | End::Served | End::Reset, _) => name.to_owned(),
        }
    }
}

/// Notes the virtual host and the route of an RPC in `saw`.
fn named(handled: &Handled, saw: &mut Saw) {
    let (Routes::Held(held), Some(choice)) = (&handled.routes, &handled.route) else {
        return;
    };
    saw.virtual_host = choice.virtual_host(held).map(|host| host.name.clone());
    saw.route = choice
        .chosen(held)
        .map(|route| (route.index.to_string(), route.name.clone()));
}
