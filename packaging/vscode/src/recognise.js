// Which documents are xDS configuration, by what is in them. xdsctl itself says nothing of others; this saves it from being asked.

const WORDS = [
  "type.googleapis.com/envoy.",
  "envoy.config.",
  "virtual_hosts",
  "virtualHosts",
  "lb_endpoints",
  "lbEndpoints",
  "load_assignment",
  "eds_cluster_config",
  "api_listener",
  "xds_servers",
];

// Members of a suite: `steps` or `tests` at the start of a line, beside a `world`.
const SUITE = /^\s*"?(steps|tests)"?\s*:/m;
const WORLD = /^\s*"?world"?\s*:/m;

// A rule of a team's own, in a file that xdsctl.toml names.
const POLICY = /^\s*\[\[policy\]\]/m;

// How much of a document is looked at.
const HEAD = 1 << 20;

function isConfiguration(fileName, text) {
  if (/(^|[\\/])xdsctl\.toml$/.test(fileName)) {
    return true;
  }
  const head = text.slice(0, HEAD);
  if (fileName.endsWith(".toml")) {
    return POLICY.test(head);
  }
  return WORDS.some((word) => head.includes(word)) || (SUITE.test(head) && WORLD.test(head));
}

module.exports = { isConfiguration };
