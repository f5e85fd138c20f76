// How fast the page is, in Chromium on this machine: `npm run speed`, after a build with the profile `web`.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mesh } from "./e2e/dumps.mjs";
import { launch, open, serve } from "./e2e/page.mjs";

const RUNS = Number(process.env.XDSCTL_RUNS ?? 20);
const p95 = (list) => [...list].sort((one, other) => one - other)[Math.ceil(list.length * 0.95) - 1];
const median = (list) => [...list].sort((one, other) => one - other)[list.length >> 1];
const say = (what, list, aim) => console.log(`${what}: p95 ${Math.round(p95(list))} ms, median ${Math.round(median(list))} ms, aim ${aim} ms (${list.length} runs)`);

const [server, browser] = [await serve(), await launch()];

/** Opens a text as a file, and says when the page said something about it: checked, and drawn. */
async function opened(page, name, text) {
  await page.evaluate(() => {
    performance.clearMarks();
    window.drawn = new Promise((done) => {
      const watch = new MutationObserver(() => { if (document.querySelector(".box") !== null) { watch.disconnect(); requestAnimationFrame(() => done(performance.now())); } });
      watch.observe(document.body, { childList: true, subtree: true });
    });
    window.checked = new Promise((done) => {
      const watch = new MutationObserver(() => { if (/\d resources/.test(document.querySelector(".foot")?.textContent ?? "")) { watch.disconnect(); done(performance.now()); } });
      watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
  });
  // The time to get the file into the browser is the test's, not the page's.
  const begin = await page.evaluate(([file, body]) => {
    const input = document.querySelector("input[type=file]");
    const data = new DataTransfer();
    data.items.add(new File([body], file));
    input.files = data.files;
    const now = performance.now();
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return now;
  }, [name, text]);
  const [checked, drawn] = await page.evaluate(async () => [await window.checked, await window.drawn]);
  return { checked: checked - begin, drawn: drawn - begin };
}

/** Whoever drops a file has looked at the page before: by then the command has run a few times. */
const READY_MS = 2000;

async function ready(page) {
  await page.getByText("Nothing leaves this page: the files").waitFor();
  await page.waitForTimeout(READY_MS);
}

const first = [];
for (let run = 0; run < RUNS; run += 1) {
  const { page } = await open(browser, server.url);
  await page.waitForSelector(".examples");
  first.push(await page.evaluate(() => performance.getEntriesByType("paint").find((entry) => entry.name === "first-contentful-paint")?.startTime ?? 0));
  await page.context().close();
}
say("first view", first, 1000);

const large = mesh(7100, 2);
const [checked, drawn] = [[], []];
for (let run = 0; run < RUNS; run += 1) {
  const { page } = await open(browser, server.url);
  await ready(page);
  const { checked: one, drawn: other } = await opened(page, "large.json", large);
  checked.push(one);
  drawn.push(other);
  await page.context().close();
}
say(`${(large.length / 1e6).toFixed(1)} MB checked`, checked, 500);
say(`${(large.length / 1e6).toFixed(1)} MB drawn`, drawn, 1000);

{
  const text = mesh(480, 2, 1);
  const { page } = await open(browser, server.url);
  await ready(page);
  await opened(page, "edited.json", text);
  await page.waitForSelector(".cm-content");
  await page.locator(".cm-content").click();
  const keys = [];
  for (let run = 0; run < RUNS * 3; run += 1) {
    await page.evaluate(() => performance.clearMarks());
    await page.keyboard.type(" ");
    await page.waitForFunction(() => performance.getEntriesByName("edited").length > 0 && performance.getEntriesByName("answered").length > 0);
    keys.push(await page.evaluate(() => performance.getEntriesByName("answered").at(-1).startTime - performance.getEntriesByName("edited")[0].startTime + 8));
  }
  say(`a key at ${(text.length / 1e6).toFixed(1)} MB answered`, keys, 100);
  await page.context().close();
}

{
  const { page } = await open(browser, server.url);
  await opened(page, "mesh.json", mesh(2000));
  const frames = await page.evaluate(async () => {
    const box = document.querySelector(".scroller");
    const times = [];
    let last = performance.now();
    for (let step = 0; step < 120; step += 1) {
      box.scrollTop += 60;
      await new Promise((done) => requestAnimationFrame(done));
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.slice(1);
  });
  say("a frame of the mesh of 2,000 clusters", frames, 50);
  await page.context().close();
}

{
  const file = join(mkdtempSync(join(tmpdir(), "xdsctl-speed-")), "huge.json");
  writeFileSync(file, mesh(70_000, 2));
  const { page } = await open(browser, server.url);
  await page.getByText("Nothing leaves this page: the files").waitFor();
  await page.evaluate(() => {
    window.gaps = [];
    let last = performance.now();
    const look = () => { window.gaps.push(performance.now() - last); last = performance.now(); requestAnimationFrame(look); };
    requestAnimationFrame(look);
  });
  const begin = Date.now();
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.waitForFunction(() => /\d resources/.test(document.querySelector(".foot")?.textContent ?? ""), null, { timeout: 300_000 });
  const gaps = await page.evaluate(() => window.gaps);
  console.log(`${Math.round(statSync(file).size / 1e6)} MB: checked after ${Date.now() - begin} ms; the page stands still for ${Math.round(Math.max(...gaps))} ms at most`);
  rmSync(dirname(file), { recursive: true });
  await page.context().close();
}

await browser.close();
server.close();
