// What people looked for who used the page a second time: the worst first, the cause beside what suffers, and no words of a terminal.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { cluster, endpoints, listener, routes } from "./dumps.mjs";
import { chosen, files, launch, open, root, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const fixture = (name) => readFileSync(join(root, "fixtures", name), "utf8");
const to = (name) => ({ route: { cluster: name } });
const split = (...clusters) => ({ route: { weighted_clusters: { clusters: clusters.map(([name, weight]) => ({ name, weight })) } } });
const world = (list, more = [], domains = ["*"]) => JSON.stringify([listener("cart", "r"), routes("r", [{ name: "shop", domains, routes: list }]), cluster("old"), endpoints("old", ["10.0.0.1"]), ...more], null, 2);

test("a comparison says first which RPCs fail now, and why", async () => {
  const { page, complaints } = await open(browser, server.url);
  const all = (clusters) => [{ match: { prefix: "/shop.Cart/" }, ...clusters }];
  await files(page, [["a.json", world(all(to("old")))], ["b.json", world(all(split(["old", 90], ["new", 10])))], ["c.json", world(all(split(["old", 90], ["new", 10])), [cluster("new"), endpoints("new", ["10.0.0.2"])])]]);
  await page.waitForSelector(".box");
  await page.getByRole("tab", { name: "Compare" }).click();
  await page.locator(".compare select").nth(0).selectOption("a.json");
  await page.locator(".compare select").nth(1).selectOption("b.json");
  await page.locator(".compare .result").nth(1).waitFor();
  assert.match(await page.locator(".compare .result").first().textContent(), /^10 % of the RPCs fail, \/shop\.Cart\/\w*: new: there is no such Cluster$/);
  await page.locator(".compare select").nth(1).selectOption("c.json");
  await page.getByText("RPCs go elsewhere").waitFor();
  await page.getByText("of the RPCs fail").waitFor({ state: "hidden" });
  assert.deepEqual(complaints, []);
});

test("Send names the route behind that is never reached", async () => {
  const gold = { match: { prefix: "/", headers: [{ name: "tier", string_match: { exact: "gold" } }] }, ...to("gold") };
  const { page } = await open(browser, server.url);
  await files(page, [["gold.json", world([{ match: { prefix: "/" }, ...to("old") }, gold], [cluster("gold"), endpoints("gold", ["10.0.0.2"])])]]);
  await page.waitForSelector(".box");
  await page.getByLabel("Headers").fill("tier: gold");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const behind = page.getByRole("region", { name: "Routes" }).locator("p.no", { hasText: "never reached: routes[0] matches every RPC" });
  await behind.getByRole("button").waitFor();
  assert.match(await behind.textContent(), /^routes\[1\] \/\* \[tier\]: .* gold\.json:\d+$/);
});

test("a finding leads to the line that is its cause", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["cart.json", world([{ match: { prefix: "" }, ...to("old") }], [], ["card"])]]);
  const finding = page.locator(".findings li", { hasText: "no virtual host has a domain for `cart`" });
  await finding.locator(".help", { hasText: "the domains of shop" }).getByRole("button").click();
  await chosen(page, '"domains": [\n"card"\n],');
});

test("a cell of the matrix says why", async () => {
  const { page, complaints } = await open(browser, server.url);
  await page.getByRole("button", { name: "One client takes it, another does not" }).click();
  const cell = page.locator(".matrix td.bad").first();
  await cell.getByText("the client has no filter of type").waitFor();
  await cell.getByRole("button", { name: "hcm-filter-unsupported" }).click();
  await page.locator(".page h2", { hasText: "hcm-filter-unsupported" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("what happened is said in words, with the colours beside", async () => {
  const { page } = await open(browser, server.url);
  await page.getByRole("button", { name: "A region fails" }).click();
  await page.locator(".legend", { hasText: "cannot connect" }).waitFor();
  const events = await page.locator(".events li").allTextContents();
  assert.ok(events.length > 0 && events.every((line) => /^\d+\.\d{3} s [a-z ]+/.test(line) && !/\w=/.test(line.replace(/xds:\S*|"[^"]*"/g, ""))), events.join("\n"));
});

test("a slip while typing leaves the picture of before, and says so", async () => {
  const { page, complaints } = await open(browser, server.url);
  await files(page, [["cart.json", world([{ match: { prefix: "" }, ...to("old") }])]]);
  await page.waitForSelector(".box.endpoint");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("{");
  await page.getByText(/The picture is of the text before: cart\.json:\d+ cannot be read/).waitFor();
  assert.equal(await page.locator(".scroller.before .box.endpoint").count(), 1);
  await page.keyboard.press("Backspace");
  await page.getByText("The picture is of the text before").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".box.endpoint").count(), 1);
  assert.deepEqual(complaints, []);
});

test("the form begins with an RPC that a route names", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["cart.json", world([{ match: { prefix: "/shop.Cart/" }, ...to("old") }, { match: { prefix: "" }, ...to("old") }])]]);
  await page.waitForSelector(".box");
  await page.waitForFunction(() => document.querySelector(".try input")?.value === "/shop.Cart/Method");
});

test("what the command says names the fields of the page", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["checkout.yaml", fixture("examples/checkout.yaml")]]);
  await page.waitForSelector(".box");
  await page.getByLabel("Method").fill("no method");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".told").first().waitFor();
  assert.doesNotMatch(await page.locator(".told").first().textContent(), /--method|xdsctl:/);
  await page.goto(`${server.url}?proxy`);
  await files(page, [["routes.json", JSON.stringify([routes("r", [{ name: "shop", domains: ["*"], routes: [{ match: { prefix: "" }, ...to("old") }] }]), cluster("old")])]]);
  await page.waitForSelector(".box");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const told = page.locator(".told", { hasText: "the input has no Listener" });
  await told.waitFor();
  assert.doesNotMatch(await told.textContent(), /--[a-z]/);
});
