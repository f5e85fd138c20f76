//! The public functions, which the crate documentation describes.
//!
//! They are thin wrappers over `xdsctl_channel` and `xdsctl_lint`.

use std::fmt;
use std::sync::Arc;

use xdsctl_channel::client::target::{Target, TargetError};
use xdsctl_channel::client::{Client, Keep, Reading, Start, Store, ValidationInput, Verdict, WorldSet};
use xdsctl_channel::sim;
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_document::envelope::{EMPTY_RESPONSE, NO_RESOURCE};
use xdsctl_document::source::{Source, SourceMap, Span};
use xdsctl_lint::decide::{CheckOutcome, InputScope};
use xdsctl_model::diag::{Diagnostic, Effect, Severity};
use xdsctl_model::profile::{self, Profile, ServerFacts, UnknownClient};
use xdsctl_model::resource::ResourceType;

/// The verdicts and problems of a client on a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Each resource that the client asks for, in the order of the document.
    pub resources: Vec<ResourceVerdict>,
    /// The problems, in the order of the document.
    pub problems: Vec<Problem>,
}

/// What the client does with one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceVerdict {
    /// The type of the resource, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// The name of the resource; may be empty.
    pub name: String,
    /// Whether the client accepts or rejects the resource.
    pub verdict: Verdict,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule's id, such as `cds-lb-policy-unsupported`; `xdsctl explain` has a page about it.
    pub rule: &'static str,
    /// What the client does because of the problem.
    pub effect: Effect,
    /// How bad the effect is. A warning is an error here if the text holds no resource.
    pub severity: Severity,
    /// The resource with the problem; `None` for a problem of the document itself.
    pub resource: Option<(ResourceType, String)>,
    /// The field, in the client's notation; empty for the whole resource.
    pub path: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Line in the document, from 1.
    pub line: usize,
    /// Column in code points, from 1.
    pub column: usize,
}

impl Report {
    /// Returns the problems that are errors: the client rejects something, or RPCs fail.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
    }

    /// Returns what the client does with a resource. If the document has several of the name, the
    /// last one counts.
    pub fn verdict(&self, resource_type: ResourceType, name: &str) -> Option<Verdict> {
        let found = self.resources.iter().rev();
        let mut found = found.filter(|answer| answer.resource_type == resource_type && answer.name == name);
        found.next().map(|answer| answer.verdict)
    }
}

impl std::error::Error for Report {}

impl fmt::Display for Report {
    /// Writes a line for each problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problems.iter().try_for_each(|problem| writeln!(f, "{problem}"))
    }
}

impl fmt::Display for Problem {
    /// Writes a line such as
    /// `3:5: Cluster a: lb_policy: lb_policy 5 is not supported [cds-lb-policy-unsupported]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if let Some((resource_type, name)) = &self.resource {
            write!(f, "{} {name}: ", resource_type.short_name())?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} [{}]", self.message, self.rule)
    }
}

/// A client that is asked about documents, with its version.
///
/// ```
/// let text = r#"{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "STATIC"}"#;
/// let go = xdsctl::Checker::new("go@1.72")?;
/// assert_eq!(go.check(text).errors().next().unwrap().path, "type");
/// let outcome = xdsctl::send(go.hold(text).unwrap(), "xds:///shop", "/shop.Cart/Get").unwrap();
/// assert_eq!(outcome.code, xdsctl::Code::Unavailable);
/// # Ok::<(), xdsctl::UnknownClient>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Checker {
    profile: Profile,
    server: ServerFacts,
    bootstrap: Bootstrap,
}

impl Checker {
    /// Makes a client by its name, in the form of `--client`: `go`, `java@1.72`. A name without a
    /// version means the newest version that was measured.
    ///
    /// # Errors
    /// There is no such client or version, or the text names several clients.
    pub fn new(client: &str) -> Result<Checker, UnknownClient> {
        let profile = Profile::of(profile::Client::parse_one(client)?);
        Ok(Checker {
            profile,
            ..Checker::default()
        })
    }

    /// Gives the client a bootstrap: the JSON of its file. A bootstrap has the certificate providers
    /// that TLS contexts may name, says whether the management server is trusted (A81), and has the
    /// templates that make a target the name of a Listener (A47).
    ///
    /// ```
    /// let bootstrap = r#"{"xds_servers": [{"server_uri": "xds.example.com:443", "channel_creds": [{"type": "insecure"}]}],
    ///     "node": {"id": "test"}}"#;
    /// let checker = xdsctl::Checker::default().with_bootstrap(bootstrap).unwrap();
    /// assert!(xdsctl::Checker::default().with_bootstrap("{}").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns the report if the client rejects the bootstrap: it then makes no channel. Lines and
    /// columns are those of the bootstrap.
    pub fn with_bootstrap(mut self, json: &str) -> Result<Checker, Report> {
        let (bootstrap, diagnostics, fault) = bootstrap::validate(json.as_bytes(), &self.profile);
        match bootstrap {
            Some(bootstrap) => {
                self.server = bootstrap.server_facts();
                self.bootstrap = bootstrap;
                Ok(self)
            }
            None => {
                let mut sources = SourceMap::new();
                let id = sources.add("-", json.as_bytes().to_vec());
                let text = sources.get(id);
                let paths: Vec<_> = diagnostics.iter().map(|diagnostic| &diagnostic.path).collect();
                let spans = text.map(|text| text.locate_in_json(Span::new(0, json.len()), &paths, fault));
                let mut report = Report::default();
                for (diagnostic, span) in diagnostics.into_iter().zip(spans.into_iter().flatten()) {
                    report.problems.push(problem(diagnostic, None, span, text, false));
                }
                Err(report)
            }
        }
    }

    /// Says what this client would do with the resources of a document, as [`check`](fn@check) does
    /// for the default client.
    pub fn check(&self, text: impl Into<Vec<u8>>) -> Report {
        let (world_set, store) = self.read(text.into(), Keep::Findings);
        let CheckOutcome {
            resources, findings, ..
        } = xdsctl_lint::decide::decide(
            world_set,
            InputScope {
                base: self.profile.client(),
                ..InputScope::default()
            },
        );
        let mut report = Report::default();
        let is_empty = resources.is_empty();
        let text = store.sources.iter().next().map(|(_, source)| source);
        let mut add = |diagnostic: Diagnostic, resource: Option<(ResourceType, String)>, span: Span| {
            report
                .problems
                .push(problem(diagnostic, resource, span, text, is_empty));
        };
        for found in findings {
            add(found.diagnostic, None, found.span);
        }
        for mut checked in resources {
            checked.ignored.unpack_into(&mut checked.diagnostics);
            let named = checked
                .resource_type
                .map(|resource_type| (resource_type, checked.name.clone()));
            let source = store.sources.get(checked.origin.source);
            let paths: Vec<_> = checked.diagnostics.iter().map(|diagnostic| &diagnostic.path).collect();
            let spans = source.map(|source| source.locate_all(checked.origin.span, &paths));
            let spans = spans.unwrap_or_default();
            for (diagnostic, span) in checked.diagnostics.into_iter().zip(spans) {
                add(diagnostic, named.clone(), span);
            }
            for note in checked.notes {
                add(note.diagnostic, named.clone(), note.span);
            }
            if let Some((resource_type, name)) = named {
                report.resources.push(ResourceVerdict {
                    resource_type,
                    name,
                    verdict: checked.verdict,
                });
            }
        }
        report.problems.sort_by_key(|problem| (problem.line, problem.column));
        report
    }

    /// Makes this client hold those resources of a document that it accepts, as [`hold`] does for
    /// the default client.
    ///
    /// # Errors
    /// The errors are those of [`hold`].
    pub fn hold(&self, text: impl Into<Vec<u8>>) -> Result<Client, Report> {
        let text = text.into();
        let (world_set, store) = self.read(text.clone(), Keep::Values);
        let is_empty = world_set.resources.is_empty();
        let is_error = |diagnostic: &Diagnostic| severity(diagnostic, is_empty) == Severity::Error;
        let mut notes = world_set.resources.iter().flat_map(|checked| &checked.notes);
        if world_set.findings.iter().any(|found| is_error(&found.diagnostic))
            || notes.any(|note| is_error(&note.diagnostic))
        {
            return Err(self.check(text));
        }
        let resources = world_set.hold(&store).pop();
        let resources = resources.map(|(_, resources)| resources).unwrap_or_default();
        Ok(Client::holding(
            resources,
            &self.bootstrap.node_id,
            &self.profile,
            &self.server,
        ))
    }

    /// Opens a channel, as [`channel`] does, to a target that this client's bootstrap turns into the
    /// name of a Listener.
    ///
    /// # Errors
    /// The client could not start with the target.
    pub fn channel(&self, client: Client, target: &str) -> Result<sim::Channel, TargetError> {
        let target = Target::parse(target, None, &self.bootstrap)?;
        Ok(sim::Channel::new(
            client,
            Start::Target(target),
            sim::Network::default(),
            sim::ChannelOptions::default(),
        ))
    }

    /// Sends one RPC, as [`send`] does, to a target that this client's bootstrap turns into the name
    /// of a Listener.
    ///
    /// # Errors
    /// The errors are those of [`send`].
    pub fn send(&self, client: Client, target: &str, method: &str) -> Result<sim::Outcome, SendError> {
        let rpc = sim::Rpc {
            method: method.to_owned(),
            ..sim::Rpc::default()
        };
        let mut channel = self.channel(client, target)?;
        channel.call(rpc)?.ok_or(SendError::Endless)
    }

    /// Reads a document as everything that one client is sent.
    fn read(&self, text: Vec<u8>, keep: Keep) -> (WorldSet, Arc<Store>) {
        let mut store = Store {
            sources: SourceMap::new(),
            profile: self.profile.clone(),
            server: self.server.clone(),
        };
        let id = store.sources.add("-", text);
        let against = ValidationInput {
            profile: &store.profile,
            others: &[],
            server: &store.server,
            keep,
        };
        let mut reading = Reading::default();
        if let Some(source) = store.sources.get(id) {
            reading.read(None, &against, |loader, emit| {
                loader.document(id, source, Default::default(), emit);
            });
        }
        (reading.finish(&against, true), Arc::new(store))
    }
}

/// Says what a gRPC client would do with the resources of a document.
///
/// The document may be any that `xdsctl validate` reads. Its content counts as everything that one
/// client is sent. The client is the default one, without a bootstrap. If the document cannot be
/// read, that is a problem too, and an error.
///
/// ```
/// let report = xdsctl::check(
///     r#"{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS",
///         "eds_cluster_config": {"eds_config": {"ads": {}}}, "lb_policy": "MAGLEV"}"#,
/// );
/// let rules: Vec<&str> = report.errors().map(|problem| problem.rule).collect();
/// assert_eq!(rules, ["cds-lb-policy-unsupported"]);
/// assert_eq!(report.errors().next().unwrap().path, "lb_policy");
/// ```
pub fn check(text: impl Into<Vec<u8>>) -> Report {
    Checker::default().check(text)
}

/// Makes a problem of a finding, with its place in the text.
fn problem(
    diagnostic: Diagnostic,
    resource: Option<(ResourceType, String)>,
    span: Span,
    text: Option<&Source>,
    is_empty: bool,
) -> Problem {
    let place = text.map(|source| source.line_column(span.start));
    Problem {
        rule: diagnostic.rule.id,
        effect: diagnostic.effect,
        severity: severity(&diagnostic, is_empty),
        resource,
        path: diagnostic.path.to_string(),
        message: diagnostic.message,
        line: place.map_or(1, |place| place.line),
        column: place.map_or(1, |place| place.column),
    }
}

/// Says how bad a problem is. In a text without a resource, a warning is an error, because it says
/// why there is no resource. A text that is empty on purpose is no error.
fn severity(diagnostic: &Diagnostic, is_empty: bool) -> Severity {
    match diagnostic.severity() {
        Severity::Warning if is_empty && ![&NO_RESOURCE, &EMPTY_RESPONSE].contains(&diagnostic.rule) => Severity::Error,
        severity => severity,
    }
}

/// Makes a client hold those resources of a document that it accepts.
///
/// [`Resources::rejected`](xdsctl_channel::client::Resources::rejected) has the resources that the
/// client rejects. [`Client::update`] sends further resources to the client.
///
/// ```
/// let client = xdsctl::hold(
///     r#"{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "EDS",
///         "eds_cluster_config": {"eds_config": {"ads": {}}}}"#,
/// )
/// .unwrap();
/// assert!(client.resources.clusters.get("cart").unwrap().is_accepted());
/// ```
///
/// # Errors
/// Returns the report if the document could not be read in full, or if no resource was found in a
/// text that is not an empty response: the client would then hold something else than the caller
/// meant. A resource that the client rejects is no error here.
pub fn hold(text: impl Into<Vec<u8>>) -> Result<Client, Report> {
    Checker::default().hold(text)
}

/// Opens a channel to a target, `xds:///NAME`, in simulated time. Every address answers, and random
/// draws have the seed 0.
///
/// # Errors
/// The client could not start with the target.
pub fn channel(client: Client, target: &str) -> Result<sim::Channel, TargetError> {
    Checker::default().channel(client, target)
}

/// Why an RPC was not sent, or not followed to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The client could not start with the target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The simulation stopped at one of its limits.
    #[error(transparent)]
    Limit(#[from] sim::LimitReached),
    /// Nothing ends the RPC, not even a deadline.
    #[error("the RPC waits for ever")]
    Endless,
}

/// Sends one RPC to `method` of `target`, on a channel of its own, and says how it ended.
///
/// ```
/// let client = xdsctl::hold("{\"resources\": []}").unwrap();
/// let outcome = xdsctl::send(client, "xds:///cart", "/shop.Cart/Get").unwrap();
/// assert_eq!(outcome.code, xdsctl::Code::Unavailable);
/// assert_eq!(outcome.details, "empty address list (LDS resource cart: does not exist)");
/// ```
///
/// The RPC has a deadline of [`sim::DEFAULT_TIMEOUT_MS`]. Use [`channel`] to send several RPCs, or
/// RPCs with other metadata and deadlines.
///
/// # Errors
/// The client could not start with the target, or the simulation stops at a limit.
pub fn send(client: Client, target: &str, method: &str) -> Result<sim::Outcome, SendError> {
    Checker::default().send(client, target, method)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test that finds nothing wrong with a text must have looked at one.
    #[test]
    fn a_text_without_configuration_is_an_error() {
        for text in ["", "hello", "{\"resources\": [ {", "{\"resource\": 1}"] {
            let report = check(text);
            assert_ne!(report.errors().count(), 0, "{text}: {report}");
            assert_eq!(hold(text).unwrap_err(), report, "{text}");
        }
        assert_eq!(check("{\"resources\": []}").errors().count(), 0);
        assert!(hold("{\"resources\": []}").is_ok());
    }

    /// For C-core, the prefix is a curiosity; grpc-go rejects the Listener.
    #[test]
    fn a_problem_is_as_bad_as_it_is_for_the_client() {
        let text = r#"{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
            "name": "grpc/server?xds.resource.listening_address=0.0.0.0:8080",
            "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8080}},
            "filter_chains": [{
                "name": "all",
                "filter_chain_match": {"source_prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 40}]},
                "filters": [{"name": "hcm", "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                    "route_config": {"name": "in", "virtual_hosts": [
                        {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "non_forwarding_action": {}}]}]},
                    "http_filters": [{"name": "router", "typed_config": {
                        "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}"#;
        let of = |client: &str| Checker::new(client).unwrap().check(text);
        let (go, core) = (of("go"), of("cpp"));
        assert_eq!(go.resources[0].verdict, Verdict::Rejected);
        assert_eq!(go.errors().count(), 1, "{go}");
        assert_eq!(core.resources[0].verdict, Verdict::Accepted);
        assert_eq!(core.errors().count(), 0, "{core}");
    }

    #[test]
    fn a_checker_answers_for_its_client() {
        let text = r#"{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts": [
            {"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c", "retry_policy":
                {"retry_on": "cancelled", "num_retries": 0}}}]}]}"#;
        let verdict = |client: &str| {
            let report = Checker::new(client).unwrap().check(text);
            report.verdict(ResourceType::RouteConfiguration, "r").unwrap()
        };
        assert_eq!(
            verdict("cpp"),
            check(text).verdict(ResourceType::RouteConfiguration, "r").unwrap()
        );
        assert_eq!(
            (verdict("cpp"), verdict("java")),
            (Verdict::Rejected, Verdict::Accepted)
        );
        assert!(Checker::new("gopher").is_err());
    }

    #[test]
    fn a_bootstrap_has_the_providers_that_a_cluster_names() {
        let bootstrap = r#"{"xds_servers": [{"server_uri": "xds:1", "channel_creds": [{"type": "insecure"}]}], "node": {"id": "n"},
            "certificate_providers": {"own": {"plugin_name": "file_watcher", "config": {"ca_certificate_file": "ca.pem"}}}}"#;
        let cluster = r#"{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}, "transport_socket": {"name": "tls", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {
            "validation_context": {"ca_certificate_provider_instance": {"instance_name": "own"}}}}}}"#;
        let with = |bootstrap: &str| {
            let checker = Checker::default().with_bootstrap(bootstrap).unwrap();
            let verdict = checker.check(cluster).verdict(ResourceType::Cluster, "c").unwrap();
            (verdict, checker.hold(cluster).unwrap().node_id)
        };
        assert_eq!(with(bootstrap), (Verdict::Accepted, "n".to_owned()));
        assert_eq!(with(&bootstrap.replace("own", "other")).0, Verdict::Rejected);
    }

    #[test]
    fn a_bootstrap_that_is_rejected_says_where() {
        let place = |text: &str| {
            let report = Checker::default().with_bootstrap(text).unwrap_err();
            let problem = report.errors().next().unwrap();
            (problem.path.clone(), problem.line, problem.column)
        };
        assert_eq!(place("{\n  \"xds_servers\": 1}").1, 2);
        assert_eq!(place("{\n\n ]").1, 3);
    }

    #[test]
    fn an_update_may_be_the_text_that_is_held() {
        let cluster = r#"{"resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}}]}"#;
        let mut client = Client::default();
        let updated = client.update(&serde_json::from_str(cluster).unwrap());
        assert!(updated.findings.is_empty(), "{updated:?}");
        assert!(client.resources.clusters.get("a").is_some());
    }
}
