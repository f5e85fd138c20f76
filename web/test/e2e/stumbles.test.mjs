// What people stumbled over who had never seen the page: each is said where they looked for it.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { cluster, endpoints, listener, routes } from "./dumps.mjs";
import { chosen, files, launch, open, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const to = (name, more = {}) => ({ route: { cluster: name, ...more } });
const host = (list) => [{ name: "shop", domains: ["*"], routes: list }];
const COOKIE = `resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: shop
  api_listener:
    api_listener:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      rds: {route_config_name: r, config_source: {ads: {}}}
      http_filters:
      - name: session
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession
          session_state:
            name: cookie
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState
              cookie:
                name: cart
                path: /shop.Cart/Get
      - name: router
        typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: r
  virtual_hosts:
  - name: shop
    domains: ["*"]
    routes:
    - match: {prefix: /shop.Cart/}
      route: {cluster: cart}
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: cart
  type: EDS
  eds_cluster_config: {eds_config: {ads: {}}}
- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: cart
  endpoints:
  - locality: {region: eu}
    load_balancing_weight: 1
    lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 8080}}}
    - endpoint:
        address: {socket_address: {address: 10.0.0.2, port_value: 8080}}
`;

/** The page with a file, and an RPC sent. */
async function tried(name, text, { method, count = 1, viewport } = {}) {
  const made = await open(browser, server.url, viewport);
  const { page } = made;
  await files(page, [[name, text]]);
  await page.waitForSelector(".findings");
  if (viewport !== undefined) await page.getByRole("button", { name: "Ask" }).click();
  if (method !== undefined) await page.getByLabel("Method").fill(method);
  await page.getByLabel("Count").fill(String(count));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.waitForSelector(".result");
  return made;
}

test("a cookie's path that does not cover the method is said, with its line, also in the picture", async () => {
  const { page, complaints } = await tried("session.yaml", COOKIE, { method: "/shop.Cart/Add" });
  const row = page.locator(".ways tr", { hasText: "stateful session" });
  assert.match(await row.textContent(), /none: the path `\/shop\.Cart\/Get` of cookie `cart` does not cover `\/shop\.Cart\/Add` *session\.yaml:18/);
  await row.getByRole("button", { name: "session.yaml:18" }).click();
  await chosen(page, "path: /shop.Cart/Get");
  await page.locator(".box.listener", { hasText: "cart on /shop.Cart/Get" }).waitFor();
  await page.locator(".box.route", { hasText: "session only on /shop.Cart/Get" }).waitFor();
  await page.locator(".findings li", { hasText: "covers one method of the route to `/shop.Cart/`" }).getByText("Help: for all methods of the service set the cookie's path to `/shop.Cart`").waitFor();
  await page.getByLabel("Method").fill("/shop.Cart/Get");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".ways tr", { hasText: "no address in a cookie `cart`, the answer sets one" }).waitFor();
  await page.getByLabel("Session of").selectOption("10.0.0.2:8080");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".result", { hasText: "OK from 10.0.0.2:8080" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("a click on a box chooses what it stands for, also in a list of resources", async () => {
  const { page } = await tried("session.yaml", COOKIE);
  assert.equal(await page.getByLabel("Method").inputValue(), "/shop.Cart/Method");
  await page.locator(".box.route").click();
  await chosen(page, "- match: {prefix: /shop.Cart/}\nroute: {cluster: cart}");
  await page.locator(".box.endpoint", { hasText: "10.0.0.2" }).click();
  await chosen(page, "- endpoint:\naddress: {socket_address: {address: 10.0.0.2, port_value: 8080}}");
});

test("the headline counts failures, and their way is red", async () => {
  const weighted = { route: { weighted_clusters: { clusters: [{ name: "old", weight: 50 }, { name: "new", weight: 50 }] } } };
  const text = JSON.stringify([listener("cart", "r"), routes("r", host([{ match: { prefix: "" }, ...weighted }])), cluster("old"), cluster("new"), endpoints("old", ["10.0.0.1"])], null, 2);
  const { page } = await tried("canary.json", text, { count: 100 });
  assert.match(await page.locator(".result.bad").textContent(), /^\d+ of 100 RPCs fail: UNAVAILABLE/);
  assert.equal(await page.locator(".box.cluster.failing", { hasText: "new" }).count(), 1);
  assert.equal(await page.locator(".box.cluster.failing", { hasText: "old" }).count(), 0);
  await page.locator("tr.fails", { hasText: "UNAVAILABLE" }).waitFor();
  await page.locator(".line.failing").first().waitFor({ state: "attached" });
});

test("timeout and retries have rows, and a box says retries only where there are some", async () => {
  const policy = { timeout: "2s", retry_policy: { retry_on: "5xx", num_retries: 3 } };
  const text = JSON.stringify([listener("cart", "r"), routes("r", host([{ match: { prefix: "" }, ...to("cart", policy) }])), cluster("cart"), endpoints("cart", ["10.0.0.1"])], null, 2);
  const { page } = await tried("retries.json", text);
  await page.locator(".ways tr", { hasText: "timeout" }).filter({ hasText: "none" }).waitFor();
  await page.locator(".ways tr", { hasText: "retries" }).filter({ hasText: "none: the policy of the route names no status that gRPC retries" }).waitFor();
  await page.locator(".ways tr", { hasText: "stateful session" }).filter({ hasText: "none: the listener has no session filter" }).waitFor();
  assert.doesNotMatch(await page.locator(".box.route .detail").textContent(), /retries/);
  await page.getByRole("region", { name: "Findings on its way" }).getByText("gRPC does not read `timeout`").waitFor();
  await page.getByRole("button", { name: "rds-retry-policy-without-codes" }).click();
  await page.locator(".page h3", { hasText: "Reported" }).first().waitFor();
  assert.equal(await page.locator(".page h3", { hasText: "Rejected" }).count(), 0);
});

test("a route that takes all before another one is named", async () => {
  const gold = { match: { prefix: "/", headers: [{ name: "tier", string_match: { exact: "gold" } }] }, ...to("gold") };
  const text = JSON.stringify([listener("cart", "r"), routes("r", host([{ match: { prefix: "/" }, ...to("cart") }, gold])), cluster("cart"), cluster("gold"), endpoints("cart", ["10.0.0.1"])], null, 2);
  const { page } = await open(browser, server.url);
  await files(page, [["gold.json", text]]);
  const finding = page.locator(".findings li", { hasText: "never reached: routes[0] matches every RPC" });
  await finding.getByRole("button", { name: /gold\.json:\d+/ }).last().click();
  await page.locator(".box.route", { hasText: "[tier]" }).click();
  await page.getByRole("button", { name: "Try such an RPC" }).click();
  await page.waitForSelector(".result");
  assert.equal(await page.getByLabel("Headers").inputValue(), "tier: gold");
});

test("examples open where they show something", async () => {
  const { page } = await open(browser, server.url);
  for (const [title, tab, says] of [
    ["What does this change do?", "Compare", "RPCs go elsewhere"], ["One client takes it", "Clients", "rejected"], ["A region fails", "Play", "passed"],
  ]) {
    await page.goto(`${server.url}?${tab}`);
    await page.locator(".examples button", { hasText: title }).click();
    await page.locator("[role=tab][aria-selected=true]", { hasText: tab }).waitFor();
    await page.locator("#panel", { hasText: says }).waitFor();
  }
});

test("clients are chosen from a list; without a choice nobody is named", async () => {
  const { page } = await tried("session.yaml", COOKIE);
  assert.doesNotMatch(await page.locator(".command").textContent(), /--client/);
  await page.locator(".choice summary").click();
  for (const name of ["cpp", "go"]) await page.getByRole("checkbox", { name }).check();
  await page.waitForFunction(() => /--client cpp,go/.test(document.querySelector(".command")?.textContent ?? ""));
});

test("a narrow page shows the whole picture, and nothing is cut", async () => {
  const { page } = await tried("session.yaml", COOKIE, { viewport: { width: 390, height: 844 } });
  assert.ok(await page.evaluate(() => document.querySelector("#panel").scrollWidth <= document.querySelector("#panel").clientWidth));
  await page.getByRole("button", { name: "Picture", exact: true }).click();
  await page.waitForSelector(".box.endpoint");
  assert.ok(await page.evaluate(() => { const box = document.querySelector(".scroller"); return box.scrollWidth <= box.clientWidth; }));
});

test("Fit shows all of the picture", async () => {
  const { page } = await tried("session.yaml", COOKIE);
  await page.getByRole("button", { name: "Fit" }).click();
  assert.ok(await page.evaluate(() => { const box = document.querySelector(".scroller"); return box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight; }));
});

test("what was made for a proxy is checked when somebody asks for it", async () => {
  const { page, complaints } = await open(browser, server.url);
  const http = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", stat_prefix: "x", merge_slashes: true,
    rds: { config_source: { ads: {} }, route_config_name: "r" },
  };
  const edge = {
    "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "edge", address: { socket_address: { address: "0.0.0.0", port_value: 80 } },
    filter_chains: [{ filters: [{ name: "http", typed_config: http }] }],
  };
  await files(page, [["edge.json", JSON.stringify([edge, routes("r", host([{ match: { prefix: "/" }, ...to("a") }])), cluster("a", { lb_policy: "MAGLEV" })])]]);
  await page.getByText("nothing to check: the configuration was made for a proxy").waitFor();
  assert.equal(await page.getByText("lb_policy 5 (MAGLEV) is not supported").count(), 0);
  assert.equal(await page.getByText("--all").count(), 0);
  await page.getByRole("button", { name: "Check it anyway" }).click();
  await page.getByText("lb_policy 5 (MAGLEV) is not supported").first().waitFor();
  assert.equal(await page.getByText("nothing to check").count() + await page.getByRole("button", { name: "Check it anyway" }).count(), 0);
  assert.match((await page.locator(".foot").textContent()) ?? "", /: 3 resources, 2 rejected; 3 errors, 1 warning, /);
  assert.deepEqual(complaints, []);
  await page.context().close();
});
