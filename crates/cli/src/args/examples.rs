//! Three examples for each command, which are at the end of its help and in its man page.
//! `tests/generated.rs` parses them.

/// `xdsctl`
pub const ALL: &str = "\
Examples:
  xdsctl validate xds/
  xdsctl explain eds-locality-without-weight
  xdsctl pick --method /shop.Checkout/Pay dump.json";

/// `xdsctl validate`
pub const VALIDATE: &str = "\
Examples:
  xdsctl validate --fail-on warning -A field-ignored xds/
  xdsctl validate --format sarif=out.sarif --format human xds/
  xdsctl validate --fix xds/routes.yaml";

/// `xdsctl clients`
pub const CLIENTS: &str = "\
Examples:
  xdsctl clients
  xdsctl clients --format json
  xdsctl clients --format human";

/// `xdsctl init`
pub const INIT: &str = "\
Examples:
  xdsctl init
  xdsctl init xds/
  xdsctl init ../shop";

/// `xdsctl config`
pub const CONFIG: &str = "\
Examples:
  xdsctl config show
  xdsctl config show --format json
  xdsctl config show --config ci/xdsctl.toml";

/// `xdsctl explain`
pub const EXPLAIN: &str = "\
Examples:
  xdsctl explain cds-lb-policy-unsupported
  xdsctl explain --list
  xdsctl explain 'field:lb_policy error:LB policy is not supported'";

/// `xdsctl tree`
pub const TREE: &str = "\
Examples:
  xdsctl tree dump.json
  xdsctl tree --target xds:///checkout.example.com --format mermaid dump.json
  xdsctl tree --cluster checkout --format json dump.json";

/// `xdsctl route`
pub const ROUTE: &str = "\
Examples:
  xdsctl route --method /shop.Checkout/Pay dump.json
  xdsctl route --method /shop.Checkout/Pay --header tier=gold dump.json
  xdsctl route --method /shop.Checkout/Pay --format json dump.json";

/// `xdsctl admit`
pub const ADMIT: &str = "\
Examples:
  xdsctl admit --from 10.0.0.1 --method /shop.Checkout/Pay --san uri:spiffe://prod/cart xds/
  xdsctl admit --certificate cart.pem --at 2026-11-24T18:00:00Z --format json dump.json
  xdsctl admit --who --listen 0.0.0.0:8443 --bootstrap bootstrap.json dump.json";

/// `xdsctl pick`
pub const PICK: &str = "\
Examples:
  xdsctl pick --method /shop.Checkout/Pay dump.json
  xdsctl pick --method /shop.Checkout/Pay --count 1000 dump.json
  xdsctl pick --method /shop.Checkout/Pay --down 10.0.0.1:8080 --explain dump.json";

/// `xdsctl retry`
pub const RETRY: &str = "\
Examples:
  xdsctl retry --method /shop.Checkout/Pay dump.json
  xdsctl retry --retry-on unavailable,cancelled --num-retries 3
  xdsctl retry --method /shop.Checkout/Pay --script UNAVAILABLE,OK dump.json";

/// `xdsctl cookie`
pub const COOKIE: &str = "\
Examples:
  xdsctl cookie decode MTAuMC4wLjI6ODA4MDtjaGVja291dA==
  xdsctl cookie encode --cluster checkout 10.0.0.2:8080
  xdsctl cookie encode --name cart --cluster checkout 10.0.0.2:8080";

/// `xdsctl completions`
pub const COMPLETIONS: &str = "\
Examples:
  xdsctl completions bash > ~/.local/share/bash-completion/completions/xdsctl
  xdsctl completions zsh > ~/.zfunc/_xdsctl
  xdsctl completions fish > ~/.config/fish/completions/xdsctl.fish";

/// `xdsctl ui`
pub const UI: &str = "\
Examples:
  xdsctl ui xds/
  xdsctl ui --watch csds://127.0.0.1:50051
  xdsctl ui --port 8080 dump.json suites/";

/// `xdsctl lsp`
pub const LSP: &str = "\
Examples:
  xdsctl lsp
  xdsctl lsp -- --client cpp,go,java
  xdsctl lsp -- --bootstrap bootstrap.json --complete";

/// `xdsctl test`
pub const TEST: &str = "\
Examples:
  xdsctl test suites/
  xdsctl test --init dump.json > shop.yaml
  xdsctl test --format junit=report.xml --format human suites/";

/// `xdsctl policy`
pub const POLICY: &str = "\
Examples:
  xdsctl policy test policies/
  xdsctl policy test --format junit=report.xml --format human
  xdsctl policy new --from xds/routes.yaml:12 > policies/routes.toml";

/// `xdsctl simulate`
pub const SIMULATE: &str = "\
Examples:
  xdsctl simulate suite.yaml
  xdsctl simulate --run failover --only step,priority --chart suite.yaml
  xdsctl simulate --format jsonl --until 30 suite.yaml";

/// `xdsctl diff`
pub const DIFF: &str = "\
Examples:
  xdsctl diff --client go,java,node --target xds:///checkout old new
  xdsctl diff --exit-code git:HEAD:xds xds
  xdsctl diff --fail-on rpcs --format github --format markdown=comment.md git:origin/main:xds xds";

/// `xdsctl who`
pub const WHO: &str = "\
Examples:
  xdsctl who checkout dump.json
  xdsctl who --type cds checkout xds/
  xdsctl who --format json checkout dump.json";

/// `xdsctl fetch`
pub const FETCH: &str = "\
Examples:
  xdsctl fetch csds://localhost:50051 -o dump.json
  xdsctl fetch ads://localhost:15010?node=me --target xds:///cart -o dump.json
  xdsctl fetch envoy://localhost:9901 > dump.json";

/// `xdsctl serve`
pub const SERVE: &str = "\
Examples:
  xdsctl serve dump.json
  xdsctl serve --listen 127.0.0.1:0 --write-bootstrap bootstrap.json xds/
  xdsctl serve --compare dump.json";
