// `xdsctl ui` itself: it opens what the user has, pushes what changes, fetches what runs, and gives another site nothing.
//
// XDSCTL_UI is a command that was built with the pages; without it there is nothing to open.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";
import { launch, open, root } from "./page.mjs";

const command = process.env.XDSCTL_UI;
const options = { skip: command === undefined ? "XDSCTL_UI is not set" : false };
let browser;
let directory;
const running = [];
before(async () => { [browser, directory] = [await launch(), mkdtempSync(join(tmpdir(), "xdsctl-ui-"))]; });
after(async () => { await browser.close(); for (const child of running) child.kill(); rmSync(directory, { recursive: true }); });

/** A command that prints a line first: the line, and the process. */
async function started(...args) {
  const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { line, child };
  throw new Error(`${args} says nothing`);
}

test("files and a directory are open, and a change is pushed", options, async () => {
  mkdirSync(join(directory, "xds"), { recursive: true });
  copyFileSync(join(root, "fixtures/examples/checkout.yaml"), join(directory, "xds/checkout.yaml"));
  const { line: url, child } = await started("ui", "--watch", "xds");
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const { page, complaints } = await open(browser, url);
  await page.waitForSelector(".box.endpoint");
  await page.waitForSelector(".cm-content");
  const text = readFileSync(join(directory, "xds/checkout.yaml"), "utf8");
  writeFileSync(join(directory, "xds/checkout.yaml"), text.replaceAll("10.0.0.1", "10.0.0.99"));
  await page.locator(".box.endpoint", { hasText: "10.0.0.99" }).first().waitFor();
  await page.getByLabel("Method").fill("/shop.Checkout/Pay");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^OK from/).waitFor();
  assert.deepEqual(complaints, []);
  // It ends with the terminal; the page goes on.
  child.kill("SIGINT");
  await page.getByText("xdsctl ui has ended").first().waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^OK from/).waitFor();
});

test("a running system is fetched, from the page too", options, async () => {
  const served = await started("serve", "--listen", "127.0.0.1:0", join(root, "fixtures/examples/checkout.yaml"));
  const address = `ads://${/ on (\S+);/.exec(served.line)[1]}`;
  const { line: url } = await started("ui", address);
  const { page } = await open(browser, url);
  await page.locator(".box.endpoint").first().waitFor();
  const { line: empty } = await started("ui");
  const other = await open(browser, empty);
  await other.page.getByLabel("Address").fill("ads://127.0.0.1:1");
  await other.page.getByRole("button", { name: "Fetch" }).click();
  await other.page.getByText("cannot reach", { exact: false }).waitFor();
  await other.page.getByLabel("Address").fill("/etc/passwd");
  await other.page.getByRole("button", { name: "Fetch" }).click();
  await other.page.getByText("is no running system", { exact: false }).waitFor();
  await other.page.getByLabel("Address").fill(address);
  await other.page.getByRole("button", { name: "Fetch" }).click();
  await other.page.locator(".box.endpoint").first().waitFor();
});

test("a page of another site gets nothing", options, async () => {
  const { line: url } = await started("ui", join(root, "fixtures/examples/checkout.yaml"));
  const site = http.createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>other</p>"));
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  const { page } = await open(browser, `http://localhost:${site.address().port}/`);
  const got = await page.evaluate(async (target) => {
    const ask = (path, init) => fetch(target + path, init).then((response) => `${response.type} ${response.status}`, () => "refused");
    const frame = document.createElement("iframe");
    frame.src = target;
    document.body.append(frame);
    const script = document.createElement("script");
    const loaded = new Promise((done) => { script.onload = () => done("loaded"); script.onerror = () => done("refused"); });
    script.src = `${target}opened/0`;
    document.body.append(script);
    await new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
    let inside = "nothing";
    try { inside = frame.contentDocument?.body?.textContent ?? "nothing"; } catch { /* another origin */ }
    return [await ask("opened"), await ask("opened/0"), await ask("fetch", { method: "POST", body: "ads://127.0.0.1:1" }), await ask("opened", { mode: "no-cors" }), await loaded, inside];
  }, url);
  site.close();
  assert.deepEqual(got.slice(0, 3), ["refused", "refused", "refused"]);
  // What cannot be read says nothing: it is refused by the server, or opaque.
  assert.match(got[3], /^(refused|opaque 0)$/);
  assert.equal(got[4], "refused");
  assert.equal(got[5].includes("xdsctl"), false);
});
