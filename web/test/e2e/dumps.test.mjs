// Dumps as programs write them: each is drawn to its endpoints, an RPC goes through, and search finds what is in it.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import * as dumps from "./dumps.mjs";
import { files, launch, open, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

/** What opens, an RPC's answer, what is searched, and a finding if there is one. */
const SHAPES = {
  "a sidecar's config dump": { files: [["config_dump.json", dumps.sidecar()]], answer: /^OK from 10\.4\.0\./, search: "svc-11", finding: "response-wrapper-name-differs" },
  "a client's own status": { files: [["csds.json", dumps.csds()]], answer: /^OK from 10\.8\.0\./, search: "wallet-v1", client: "go@1.85.0" },
  "a gateway's translation": { files: [["translate.yaml", dumps.gateway()]], answer: /^UNAVAILABLE: .*path_separated_prefix/, search: "rule/1", finding: "cds-lb-policy-unsupported" },
  "a table by type": { files: [["inspect.json", dumps.inspected()]], answer: /^OK from 10\.5\.0\.1/, search: "pay" },
  "files by type": { files: dumps.failover(), answer: /^OK from 10\.0\./, search: "10.1.1.1" },
};

for (const [name, { files: list, answer, search, finding, client }] of Object.entries(SHAPES)) {
  test(name, async () => {
    const { page, complaints } = await open(browser, server.url);
    await files(page, list);
    await page.waitForSelector(".box");
    if (finding !== undefined) await page.locator(".findings li", { hasText: finding }).first().waitFor();
    if (client !== undefined) await page.locator(".foot", { hasText: client }).waitFor();
    await page.getByLabel("Method").fill("/shop.Cart/Get");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".try ~ .outcome .result").filter({ hasText: answer }).waitFor();
    if (answer.source.startsWith("^OK")) assert.ok(await page.locator(".box.endpoint.lit").count() > 0, "the way does not reach an endpoint");
    await page.getByLabel("Search", { exact: true }).fill(search);
    await page.locator(".found button", { hasText: search }).first().click();
    await page.locator(".details h2", { hasText: search }).waitFor();
    assert.deepEqual(complaints, []);
  });
}

test("a mesh of 2,000 clusters: search reaches each, and what is closed opens", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["mesh.json", dumps.mesh(2000)]]);
  await page.waitForSelector(".box");
  for (const number of [1, 7, 399, 401, 1234, 1999]) {
    const name = `outbound|8080||svc-${number}.shop`;
    await page.getByLabel("Search", { exact: true }).fill(name);
    await page.locator(".found button", { hasText: "Cluster" }).first().click();
    await page.locator(".details h2", { hasText: name }).waitFor();
    // Its endpoints are asked for when it is opened.
    const box = page.locator(".box.chosen");
    await page.waitForFunction(() => document.querySelector(".box.chosen .fold") !== null);
    if (await box.getAttribute("aria-expanded") === "false") await box.locator(".fold").click();
    await page.locator(".box.priority").first().waitFor();
  }
  assert.ok(await page.locator(".box").count() < 500);
  assert.deepEqual(complaints, []);
});
