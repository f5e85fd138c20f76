// Hostile names, dumps and links: nothing runs, nothing is asked of another host, nothing hangs.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { files, launch, open, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const EVIL = ["<img src=x onerror=window.hit=1>", "</title><script>window.hit=1</script>", "__proto__", "constructor", "toString", "javascript:window.hit=1", "\u202eevil\u0007", "../../etc/passwd"];

const cluster = (name) => ({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name, type: "EDS", eds_cluster_config: { eds_config: { ads: {} } }, lb_policy: "MAGLEV" });

const link = (state) => `#z=${deflateRawSync(JSON.stringify(state)).toString("base64url")}`;

/** What the page did that it must not. */
async function watched(url) {
  const made = await open(browser, url);
  const elsewhere = [];
  made.page.on("request", (request) => { if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) elsewhere.push(request.url()); });
  return { ...made, elsewhere };
}

test("names are text, whatever they say", async () => {
  const { page, complaints, elsewhere } = await watched(server.url);
  await files(page, EVIL.map((name, number) => [`${number}.json`, JSON.stringify(cluster(name))]));
  await page.waitForSelector(".findings li");
  for (const name of EVIL.slice(0, 6)) {
    await page.getByLabel("Search", { exact: true }).fill(name);
    await page.locator(".found button").first().click();
  }
  assert.equal(await page.evaluate(() => window.hit ?? ({}).down ?? null), null);
  assert.equal(await page.locator("img, body script").count(), 0);
  assert.deepEqual([complaints, elsewhere], [[], []]);
});

test("a link sets files and a form, and nothing else", async () => {
  const state = {
    files: [["<b>a</b>/../../x.json", JSON.stringify(cluster("<script>window.hit=1</script>"))], "no pair", [1, 2]], clients: ["go", "go --show-secrets", "<x>"],
    target: "<img onerror=1>", rpc: { method: "--config=/etc/passwd", headers: 7, count: -1, seed: 1e99 },
    changes: JSON.parse('{"__proto__": {"down": true}, "constructor": {"down": true}, "10.0.0.1:80": {"down": "yes", "health": "<x>"}}'),
  };
  const { page, complaints, elsewhere } = await watched(server.url + link(state));
  await page.waitForSelector(".findings li");
  assert.equal(await page.evaluate(() => window.hit ?? ({}).down ?? null), null);
  assert.equal(await page.getByLabel("Clients", { exact: true }).inputValue(), "go");
  assert.deepEqual([complaints, elsewhere], [[], []]);
});

test("a link that unpacks to more than a page holds opens nothing", async () => {
  for (const hash of [`#z=${deflateRawSync(Buffer.alloc(40 << 20)).toString("base64url")}`, "#z=AAAA", "#z=%00", link(null), link([]), link({ files: "x" })]) {
    const { page } = await watched(server.url + hash);
    await page.waitForSelector(".examples");
    await page.getByText("Nothing leaves this page", { exact: false }).first().waitFor();
    await page.context().close();
  }
});

test("a secret is in no link", async () => {
  const { page } = await watched(server.url);
  const headers = [{ header: { key: "authorization", value: "hunter3" } }];
  const routes = { "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "r", virtual_hosts: [{ name: "v", domains: ["*"], request_headers_to_add: headers, routes: [] }] };
  await files(page, [
    ["a.json", JSON.stringify({ ...cluster("a"), metadata: { filter_metadata: { x: { y: "hunter2" } } } })],
    ["b.yaml", `# the password is hunter4\n${JSON.stringify(routes)}`], ["broken.json", '{"name": "x", "password": "hunter5"'],
  ]);
  await page.waitForSelector(".findings li");
  await page.getByLabel("Headers").fill("authorization: Bearer hunter6");
  await page.getByRole("button", { name: "Link" }).click();
  await page.getByText("is masked in a.json, b.yaml, broken.json, the headers.", { exact: false }).waitFor();
  const hash = new URL(page.url()).hash.slice("#z=".length);
  const held = inflateRawSync(Buffer.from(hash, "base64url")).toString();
  assert.match(held, /RouteConfiguration/);
  assert.doesNotMatch(held, /hunter/);
});

test("a document without an end is cancelled or ends by itself", async () => {
  const { page } = await watched(server.url);
  await files(page, [["deep.json", "[".repeat(200_000)], ["many.json", `[${Array.from({ length: 20_000 }, (_, number) => JSON.stringify(cluster(`c${number}`))).join(",")}]`]]);
  await page.waitForSelector(".box", { timeout: 60_000 });
  await page.getByLabel("Search", { exact: true }).fill("c19999");
  await page.locator(".found button").first().click();
  assert.ok((await page.locator(".box").count()) < 400);
});

test("an enormous picture stays small", async () => {
  const { page, complaints } = await watched(server.url);
  const to = Array.from({ length: 30_000 }, (_, number) => ({ name: `c${number}`, weight: 1 }));
  const routes = { "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "r", virtual_hosts: [{ name: "v", domains: ["*"], routes: [{ match: { prefix: "" }, route: { weighted_clusters: { clusters: to } } }] }] };
  const chain = Array.from({ length: 300 }, (_, number) => ({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: `a${number}`, lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { name: "envoy.clusters.aggregate", typed_config: { "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", clusters: [`a${(number + 1) % 300}`, `a${(number + 7) % 300}`] } },
  }));
  await files(page, [["wide.json", JSON.stringify(routes)], ["chain.json", JSON.stringify(chain)]]);
  await page.waitForSelector(".box", { timeout: 60_000 });
  await page.getByLabel("Search", { exact: true }).fill("a150");
  await page.locator(".found button").first().click();
  await page.locator(".details h2", { hasText: "a150" }).waitFor();
  assert.ok((await page.locator(".box").count()) < 400);
  assert.deepEqual(complaints, []);
});
