// A browser with the built page: served as static files, with the headers that `xdsctl ui` sends.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const dist = join(root, "web/dist");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

export const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:; style-src 'self' 'nonce-page'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export async function serve() {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    const path = join(dist, pathname === "/" ? "index.html" : pathname);
    if (!path.startsWith(dist) || !existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-security-policy": POLICY });
    if (path.endsWith(".html")) return response.end(readFileSync(path, "utf8").replace("%NONCE%", "page"));
    createReadStream(path).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page of its own; what it complains of is kept. */
export async function open(browser, url, viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport, acceptDownloads: true });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") complaints.push(message.text()); });
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  return { page, complaints };
}

/** Opens texts as files. */
export async function files(page, list) {
  const input = page.locator("input[type=file]").first();
  await input.setInputFiles(list.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })));
}

/** What is selected in the editor. */
export const chosen = (page, text) => page.waitForFunction((wanted) => {
  const lines = [...document.querySelectorAll(".cm-line")];
  const marks = [...document.querySelectorAll(".cm-selectionBackground")].map((mark) => mark.getBoundingClientRect()).filter((mark) => mark.height > 0);
  const under = lines.filter((line) => { const box = line.getBoundingClientRect(); return marks.some((mark) => mark.top < box.bottom - 2 && mark.bottom > box.top + 2); });
  return under.map((line) => line.textContent.trim()).join("\n") === wanted;
}, text);
