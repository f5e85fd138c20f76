const assert = require("node:assert");
const { test } = require("node:test");
const { isConfiguration } = require("./recognise.js");

test("xDS configuration is recognised by its content", () => {
  const cluster = '"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: a\n';
  assert.ok(isConfiguration("/a/cds.yaml", cluster));
  assert.ok(isConfiguration("/a/rds.json", '{"virtualHosts": []}'));
  assert.ok(isConfiguration("/a/suite.yaml", "world: .\nsteps:\n- wait: 1\n"));
  assert.ok(isConfiguration("/a/xdsctl.toml", ""));
  assert.ok(isConfiguration("/a/policies/own.toml", "# Ours.\n[[policy]]\nid = \"team-a\"\n"));
});

test("other documents are left alone", () => {
  assert.ok(!isConfiguration("/a/package.json", '{"name": "a", "scripts": {"test": "x"}}'));
  assert.ok(!isConfiguration("/a/ci.yaml", "jobs:\n  test:\n    steps:\n    - run: x\n"));
  assert.ok(!isConfiguration("/a/Cargo.toml", "[package]\n"));
});
