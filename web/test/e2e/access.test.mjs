// Roles and contrast by axe, the keyboard alone, a wide and a narrow screen, light and dark.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { files, launch, open, root, serve } from "./page.mjs";

let browser;
let server;
before(async () => { [server, browser] = [await serve(), await launch()]; });
after(async () => { await browser.close(); server.close(); });

const axe = readFileSync(join(root, "web/node_modules/axe-core/axe.min.js"), "utf8");
const checkout = readFileSync(join(root, "fixtures/examples/checkout.yaml"), "utf8");

async function violations(page) {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(" | ").slice(0, 600)}`);
}

for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${width}x${height}, ${colorScheme}`, async () => {
      const { page } = await open(browser, server.url, { width, height });
      await page.emulateMedia({ colorScheme });
      await page.waitForSelector(".examples");
      assert.deepEqual(await violations(page), []);
      await files(page, [["checkout.yaml", checkout]]);
      await page.waitForSelector(".findings li");
      for (const part of width < 800 ? ["Files", "Picture", "Ask"] : [""]) {
        if (part !== "") await page.getByRole("button", { name: part, exact: true }).click();
        assert.deepEqual(await violations(page), [], part);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${part} is wider than the screen`);
      }
    });
  }
}

test("the keyboard alone tries an RPC and walks the picture", async () => {
  const { page } = await open(browser, server.url);
  await files(page, [["checkout.yaml", checkout]]);
  await page.waitForSelector(".box");
  const until = async (selector) => {
    for (let step = 0; step < 80; step += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
      if (await page.evaluate(() => document.activeElement?.classList.contains("cm-content") ?? false)) await page.keyboard.press("Escape");
    }
    assert.fail(`${selector} is not reached`);
  };
  await until("#picture");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  assert.match(await page.locator(".details h2").textContent(), /route/);
  await until(".try input");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("/shop.Checkout/Pay");
  await page.keyboard.press("Enter");
  await page.getByText(/^OK from/).waitFor();
});
