// What a person does with the page, in Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { files, launch, open, root, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const fixture = (name) => readFileSync(join(root, "fixtures", name), "utf8");

test("each example of a fault is two clicks from its finding", async () => {
  const { page, complaints } = await open(browser, server.url);
  const count = await page.locator(".examples button").count();
  assert.ok(count >= 8);
  for (let number = 0; number < count; number += 1) {
    await page.goto(server.url + `?${number}`);
    await page.locator(".examples button").nth(number).click();
    await page.waitForSelector(".box");
    await page.waitForSelector(".result, .findings li");
  }
  assert.deepEqual(complaints, []);
});

test("findings stand at their place, with the rule's page and a fix", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["checkout.yaml", fixture("examples/checkout.yaml")]]);
  await page.waitForSelector(".cm-lintRange");
  await page.locator(".findings li", { hasText: "rds-retry-on-unsupported" }).getByRole("button", { name: "Fix" }).click();
  await page.waitForFunction(() => document.querySelector(".cm-content")?.textContent?.includes("5xx,cancelled"));
  await page.getByRole("button", { name: "cds-lb-policy-unsupported" }).click();
  await page.waitForSelector(".page pre");
  assert.match(await page.locator(".page").textContent(), /lb_policy/);
  assert.deepEqual(complaints, []);
});

test("an RPC that is tried lights its way, and a click on an endpoint changes it", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["checkout.yaml", fixture("examples/checkout.yaml")]]);
  await page.waitForSelector(".box.endpoint");
  await page.getByLabel("Method").fill("/shop.Checkout/Pay");
  await page.getByLabel("Count").fill("200");
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForSelector(".shares");
  assert.equal(await page.locator(".box.endpoint.lit").count(), 2);
  await page.getByRole("button", { name: "Larger" }).focus();
  await page.locator(".box.endpoint", { hasText: "10.0.0.1:8080" }).click();
  await page.getByLabel("down").check();
  await page.waitForFunction(() => !document.querySelector(".shares")?.textContent?.includes("10.0.0.1:8080"));
  assert.deepEqual(complaints, []);
});

test("a log line leads to its rule and its place", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["shop.yaml", fixture("examples/shop.yaml")]]);
  await page.getByRole("tab", { name: "Log line" }).click();
  await page.getByLabel("Line of a log").fill("field:lb_policy error:LB policy is not supported");
  await page.getByRole("button", { name: "What is it about?" }).click();
  await page.waitForSelector("text=shop.yaml:32");
  assert.match(await page.locator(".page h2").textContent(), /cds-lb-policy-unsupported/);
});

test("several clients are compared", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["checkout.yaml", fixture("examples/checkout.yaml")]]);
  await page.waitForSelector(".box");
  await page.locator(".choice summary").click();
  await page.getByLabel("Clients", { exact: true }).fill("cpp,go,java");
  await page.getByLabel("Clients", { exact: true }).press("Enter");
  await page.getByRole("button", { name: "Where they differ" }).click();
  await page.waitForSelector(".matrix td.bad");
});

test("a change says where RPCs go", async () => {
  const { page, complaints } = await open(browser, server.url);
  await page.getByRole("button", { name: "What does this change do?" }).click();
  await page.locator(".compare select").nth(0).selectOption("before.yaml");
  await page.locator(".compare select").nth(1).selectOption("after.yaml");
  await page.waitForSelector("text=RPCs go elsewhere");
  assert.deepEqual(complaints, []);
});

for (const [suite, world] of [["brownout", "shop"], ["canary", "shop"], ["drain", "shop"], ["failover", "regions"], ["headers", "shop"], ["lookups", ""], ["nack", "shop"], ["ring", "shop"], ["sessions", "shop"]]) {
  test(`the suite ${suite} plays`, async () => {
    const { page, complaints } = await open(browser, server.url);
    const text = fixture(`suites/${suite}.yaml`);
    const named = [...text.matchAll(/world\/(\w+)\.yaml/g)].map((match) => match[1]);
    await page.waitForSelector(".examples");
    const list = [[`${suite}.yaml`, text], ...[...new Set([world, ...named])].filter((name) => name !== "").map((name) => [`world/${name}.yaml`, fixture(`suites/world/${name}.yaml`)])];
    // They are chosen side by side, without the directory.
    await files(page, [[list[0][0], list[0][1].replaceAll("world/", "")], ...list.slice(1).map(([name, body]) => [name.replace("world/", ""), body])]);
    await page.getByRole("tab", { name: "Play" }).click();
    await page.waitForSelector(".axis");
    assert.match(await page.locator(".play .result").textContent(), /passed/);
    await page.getByLabel(/^Time/).fill("0");
    await page.waitForSelector(".events li");
    assert.deepEqual(complaints, []);
  });
}
