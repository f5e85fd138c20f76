// Five planted faults, as somebody meets them who has never seen the page: what opens, one press of Send, and the cause stands there.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { cluster, endpoints, listener, routes } from "./dumps.mjs";
import { files, launch, open, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const to = (name) => ({ route: { cluster: name } });
const host = (domains, list) => [{ name: "shop", domains, routes: list }];
const world = (...resources) => JSON.stringify(resources, null, 2);

export const FAULTS = {
  // The target has a port, the domain has none.
  "no virtual host has the name": {
    text: world(listener("cart.shop:8080", "r"), routes("r", host(["cart.shop"], [{ match: { prefix: "" }, ...to("cart") }])), cluster("cart"), endpoints("cart", ["10.0.0.1"])),
    says: /cart\.shop:8080/, where: ".outcome",
  },
  // Every RPC goes to the first route, the second is for gold.
  "a route before it takes all RPCs": {
    text: world(listener("cart", "r"), routes("r", host(["*"], [{ match: { prefix: "/" }, ...to("silver") }, { match: { prefix: "/", headers: [{ name: "tier", string_match: { exact: "gold" } }] }, ...to("gold") }])), cluster("silver"), cluster("gold"), endpoints("silver", ["10.0.0.1"]), endpoints("gold", ["10.0.0.2"])),
    headers: "tier: gold", says: /routes\[0\].*takes it to cluster:silver/s, where: ".outcome",
  },
  // A rollout at 0 %.
  "a weight of 0": {
    text: world(listener("cart", "r"), routes("r", host(["*"], [{ match: { prefix: "" }, route: { weighted_clusters: { clusters: [{ name: "old", weight: 100 }, { name: "new", weight: 0 }] } } }])), cluster("old"), cluster("new"), endpoints("old", ["10.0.0.1"]), endpoints("new", ["10.0.0.2"])),
    chosen: "new", says: /not used.*a weight of 0 is none/s, where: ".details",
  },
  // All endpoints nearby are unhealthy.
  "the nearby region is down": {
    text: world(listener("cart", "r"), routes("r", host(["*"], [{ match: { prefix: "" }, ...to("cart") }])), cluster("cart"), {
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", cluster_name: "cart",
      endpoints: ["near", "far"].map((region, priority) => ({
        ...endpoints("x", [`10.${priority}.0.1`]).endpoints[0], locality: { region }, priority,
        ...(priority === 0 ? { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "10.0.0.1", port_value: 8080 } } }, health_status: "UNHEALTHY" }] } : {}),
      })),
    }),
    says: /UNHEALTHY/, where: ".picture",
  },
  // The cluster asks for endpoints under a name that nothing has.
  "the endpoints have another name": {
    text: world(listener("cart", "r"), routes("r", host(["*"], [{ match: { prefix: "" }, ...to("cart") }])), cluster("cart", { eds_cluster_config: { eds_config: { ads: {} }, service_name: "cart-v2" } }), endpoints("cart-v1", ["10.0.0.1"])),
    says: /no ClusterLoadAssignment/, where: ".picture",
  },
};

for (const [name, { text, says, where, headers, chosen }] of Object.entries(FAULTS)) {
  test(name, async () => {
    const { page, complaints } = await open(browser, server.url);
    await files(page, [["world.json", text]]);
    await page.waitForSelector(".box");
    if (headers !== undefined) await page.getByLabel("Headers").fill(headers);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForSelector(".outcome");
    if (chosen !== undefined) await page.locator(".box.unused", { hasText: chosen }).locator("rect").first().click();
    await page.locator(where).filter({ hasText: says }).waitFor();
    if (process.env.SHOTS !== undefined) await page.screenshot({ path: `${process.env.SHOTS}/${name.replaceAll(" ", "-")}.png` });
    assert.deepEqual(complaints, []);
  });
}
