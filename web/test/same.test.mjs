// The same question has the same answer: each line of scenarios.txt, asked of the command and of the WebAssembly build.
//
// XDSCTL is the command, XDSCTL_WASM the build; both of the same source.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../src/engine/command.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const command = process.env.XDSCTL ?? resolve(root, "target/debug/xdsctl");
const wasm = process.env.XDSCTL_WASM ?? resolve(here, "../public/xdsctl.wasm");

const scenarios = readFileSync(resolve(here, "scenarios.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
const tracked = execFileSync("git", ["ls-files", "fixtures"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const texts = tracked.filter((name) => !name.endsWith(".gz") && !name.startsWith("fixtures/c"));
const files = texts.map((name) => [name, new Uint8Array(readFileSync(resolve(root, name)))]);
const module = new WebAssembly.Module(readFileSync(wasm));

/** Systems number their errors as they like. */
const plain = (text) => text.replace(/\(os error \d+\)/g, "(os error)");

/** Words of a line; quotes keep spaces. */
const words = (line) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]);

test("there are a hundred scenarios", () => assert.ok(scenarios.length >= 100, `${scenarios.length}`));

for (const line of scenarios) {
  test(line, () => {
    const args = words(line);
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8", input: "", maxBuffer: 1 << 28 });
    const { code, out, err } = run(module, args, files);
    assert.deepEqual({ code, out: plain(out), err: plain(err) }, { code: status, out: plain(stdout), err: plain(stderr) });
  });
}
