// What a person changes and takes along: clicks on endpoints, weights, sessions; a suite, a picture, a link; pastes and directories.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { files, launch, open, root, serve } from "./page.mjs";

let browser;
let server;
let directory;
before(async () => { [server, browser, directory] = [await serve(), await launch(), mkdtempSync(join(tmpdir(), "xdsctl-web-"))]; });
after(async () => { await browser.close(); server.close(); rmSync(directory, { recursive: true }); });

const command = process.env.XDSCTL ?? join(root, "target/debug/xdsctl");
const fixture = (name) => readFileSync(join(root, "fixtures", name), "utf8");
const checkout = fixture("examples/checkout.yaml");

/** The page with the checkout, an RPC sent, and an endpoint chosen. */
async function tried(count = 1) {
  const made = await open(browser, server.url);
  const { page } = made;
  await files(page, [["checkout.yaml", checkout]]);
  await page.waitForSelector(".box.endpoint");
  await page.getByLabel("Method").fill("/shop.Checkout/Pay");
  await page.getByLabel("Count").fill(String(count));
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForSelector(".result");
  return made;
}

/** Chooses the box of an address: by search, which also brings it into view. */
async function choose(page, text, kind) {
  await page.getByLabel("Search", { exact: true }).fill(text);
  await page.locator(".found button", { hasText: kind }).first().click();
  await page.locator(".details h2", { hasText: text }).waitFor();
}

const answer = (page, text) => page.locator(".outcome", { hasText: text }).waitFor();

test("an endpoint that drains, is slow or is ejected changes the answer at once", async () => {
  const { page, complaints } = await tried(200);
  const both = await page.locator(".shares tbody tr").count();
  assert.equal(both, 2);
  await choose(page, "10.0.0.1:8080", "endpoint");
  await page.getByLabel("draining").check();
  await page.waitForFunction(() => !document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  await page.getByLabel("draining").uncheck();
  await page.waitForFunction(() => document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  await page.getByLabel("ejected").check();
  await page.waitForFunction(() => !document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  await page.getByLabel("ejected").uncheck();
  await page.getByLabel("slow").check();
  await page.waitForFunction(() => /--requests/.test(document.querySelector(".command")?.textContent ?? ""));
  await page.getByRole("button", { name: "As it is" }).click();
  await page.waitForFunction(() => !document.querySelector(".try ~ p.row")?.textContent?.includes("What if"));
  assert.deepEqual(complaints, []);
});

test("a slider writes a weight into the file, and the shares follow", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["weights.yaml", readFileSync(join(root, "web/examples/locality-without-weight.yaml"), "utf8")]]);
  await page.waitForSelector(".box.endpoint");
  await choose(page, "eu/a", "locality");
  const slider = page.getByLabel(/weight of the locality/).first();
  await slider.waitFor();
  await slider.fill("7");
  await page.waitForFunction(() => /load_balancing_weight: *7\b/.test(document.querySelector(".cm-content")?.textContent ?? ""));
  assert.deepEqual(complaints, []);
});

test("a session of an endpoint leads the RPC there", async () => {
  const { page, complaints } = await tried();
  await choose(page, "10.0.0.2:8080", "endpoint");
  await page.getByRole("button", { name: "With its session" }).click();
  await answer(page, "OK from 10.0.0.2:8080");
  assert.equal(await page.getByLabel("Session of").inputValue(), "10.0.0.2:8080");
  await page.getByRole("button", { name: "Without its session" }).click();
  assert.equal(await page.getByLabel("Session of").inputValue(), "");
  assert.deepEqual(complaints, []);
});

test("what was tried is a suite that the command passes", async () => {
  const { page, complaints } = await tried(20);
  await choose(page, "10.0.0.1:8080", "endpoint");
  await page.getByLabel("down").check();
  await page.waitForFunction(() => !document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a suite" }).click()]);
  const file = join(directory, saved.suggestedFilename());
  await saved.saveAs(file);
  writeFileSync(join(directory, "checkout.yaml"), checkout);
  const said = execFileSync(command, ["test", file], { encoding: "utf8" });
  assert.match(said, /1 (test )?passed/);
  assert.match(readFileSync(file, "utf8"), /"stop": "10\.0\.0\.1:8080"/);
  await page.getByText("`xdsctl test` passes it", { exact: false }).waitFor();
  assert.deepEqual(complaints, []);
});

test("the picture is saved as SVG, with what it shows and without a script", async () => {
  const { page } = await tried();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save picture" }).click()]);
  const file = join(directory, "channel.svg");
  await saved.saveAs(file);
  const svg = readFileSync(file, "utf8");
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.match(svg, /10\.0\.0\.1:8080/);
  assert.doesNotMatch(svg, /<script|onload|class=/);
});

test("a link holds the files, the form and the clicks", async () => {
  const { page, complaints } = await tried(50);
  await choose(page, "10.0.0.1:8080", "endpoint");
  await page.getByLabel("down").check();
  await page.waitForFunction(() => !document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  const before = await page.locator(".shares tbody").textContent();
  await page.getByRole("button", { name: "Link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#z="));
  const other = await open(browser, page.url());
  await other.page.waitForSelector(".box.endpoint");
  assert.equal(await other.page.getByLabel("Method").inputValue(), "/shop.Checkout/Pay");
  await other.page.getByRole("button", { name: "Send" }).click();
  await other.page.waitForSelector(".shares");
  assert.equal(await other.page.locator(".shares tbody").textContent(), before);
  assert.deepEqual([complaints, other.complaints], [[], []]);
});

test("a paste and a directory are opened", async () => {
  const { page, complaints } = await open(browser, server.url);
  await page.getByRole("button", { name: "Paste" }).click();
  await page.getByLabel("Configuration").fill(checkout);
  await page.getByRole("button", { name: "Open the text" }).click();
  await page.waitForSelector(".box.endpoint");
  await page.getByRole("button", { name: "paste-1.yaml", exact: true }).waitFor();
  mkdirSync(join(directory, "xds/deep"), { recursive: true });
  writeFileSync(join(directory, "xds/deep/shop.yaml"), fixture("examples/shop.yaml"));
  const again = await open(browser, server.url);
  await again.page.locator("input[webkitdirectory]").setInputFiles(join(directory, "xds"));
  await again.page.locator(".findings li", { hasText: "xds/deep/shop.yaml" }).first().waitFor();
  assert.deepEqual([complaints, again.complaints], [[], []]);
});

test("a comparison is drawn on the picture", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["checkout.yaml", checkout]]);
  await page.waitForSelector(".box.endpoint");
  await page.getByRole("tab", { name: "Compare" }).click();
  await page.getByText("Nothing changes").waitFor();
  assert.equal(await page.locator(".box.changed").count(), 0);
  await files(page, [["checkout.yaml", fixture("examples/checkout-next.yaml")]]);
  await page.locator(".compare select").nth(0).waitFor();
  await page.waitForSelector(".box.endpoint");
  // Opened anew it is compared with itself; an edit is a change.
  await page.locator(".cm-content").click();
  await page.evaluate(() => getSelection()?.removeAllRanges());
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+f");
  await page.getByPlaceholder("Find").fill("10.0.0.1");
  await page.getByPlaceholder("Replace").fill("10.0.0.77");
  await page.getByRole("button", { name: "replace all" }).click();
  await page.waitForSelector(".box.changed");
  assert.deepEqual(complaints, []);
});

test("a server says whom it lets in", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["rbac.yaml", fixture("examples/server/rbac.yaml")]]);
  await page.waitForSelector(".findings");
  await page.getByRole("tab", { name: "Server" }).click();
  await page.getByLabel("Method").fill("/shop.Orders/Put");
  await page.getByRole("button", { name: "Is it let in?" }).click();
  await page.locator(".result", { hasText: "handshake failed" }).waitFor();
  await page.getByLabel("Certificate for").fill("uri:spiffe://shop/sa/cart");
  await page.getByRole("button", { name: "Is it let in?" }).click();
  await page.locator(".result", { hasText: "served" }).waitFor();
  await page.getByLabel("Certificate for").fill("uri:spiffe://shop/sa/other");
  await page.getByRole("button", { name: "Is it let in?" }).click();
  await page.locator(".result", { hasText: "PERMISSION_DENIED" }).waitFor();
  assert.deepEqual(complaints, []);
});
