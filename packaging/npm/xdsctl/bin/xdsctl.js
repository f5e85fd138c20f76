#!/usr/bin/env node
// Runs the binary of this platform, which is a package of its own.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "xdsctl.exe" : "xdsctl";

let binary;
try {
  binary = require.resolve(`@xdsctl/${platform}/bin/${name}`);
} catch {
  console.error(`xdsctl: there is no package @xdsctl/${platform}: build from source, or install optional dependencies`);
  process.exit(2);
}

const { status, signal, error } = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`xdsctl: cannot run ${binary}: ${error.message}`);
  process.exit(2);
}
if (signal) {
  process.kill(process.pid, signal);
}
process.exit(status);
