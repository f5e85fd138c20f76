// What `xdsctl ui` has opened: it serves the page, fetches running systems, and says when something is new.
import { signal } from "@preact/signals";
import { close, docs, open } from "./state";

interface Listed { version: number; files: { name: string; number: number; size: number }[] }

/** The page comes from `xdsctl ui`; as static files nobody can be asked to fetch. */
export const isServed = document.querySelector<HTMLMetaElement>("meta[name=served]")?.content === "yes";

/** What the server says, if it is gone or cannot fetch. */
export const serverSays = signal("");

/** After a failure, how long until the next question. */
const AGAIN_MS = 2000;

/** The number of the content of each file that has been opened. */
const seen = new Map<string, number>();

/** Opens what the server has, and each new version of it as long as the page is there. */
export async function follow(): Promise<void> {
  if (!isServed) return;
  for (let version = -1; ;) {
    try {
      const list = await fetch(version < 0 ? "opened" : `opened?after=${version}`);
      if (!list.ok) throw new Error(`${list.status}`);
      const { version: now, files } = (await list.json()) as Listed;
      version = now;
      await take(files);
      serverSays.value = "";
    } catch {
      serverSays.value = "xdsctl ui has ended: the page goes on with what it has.";
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}

async function take(files: Listed["files"]) {
  const names = new Set(files.map((file) => file.name));
  for (const name of [...seen.keys()].filter((one) => !names.has(one))) {
    seen.delete(name);
    close(nameOf(name));
  }
  const fresh: [string, Uint8Array][] = [];
  for (const { name, number } of files.filter((file) => seen.get(file.name) !== file.number)) {
    const response = await fetch(`opened/${number}`);
    // It has changed again meanwhile: the next list has it.
    if (!response.ok) continue;
    seen.set(name, number);
    fresh.push([nameOf(name), new Uint8Array(await response.arrayBuffer())]);
  }
  if (fresh.length > 0) open(fresh, { keepsActive: docs.value.length > 0 });
}

/** The command knows a running system by its scheme, and would not read a file of that name. */
const nameOf = (name: string) => name.replace(/^([a-z+]+):\/\//, "$1/").replace(/[?].*$/, "") + (/^[a-z+]+:\/\//.test(name) ? ".json" : "");

/** Has the server fetch a running system, and opens it. */
export async function openAddress(address: string): Promise<void> {
  serverSays.value = `fetching ${address}`;
  try {
    const response = await fetch("fetch", { method: "POST", body: address });
    if (!response.ok) throw new Error(`${response.status}`);
    serverSays.value = ((await response.json()) as { error: string | null }).error ?? "";
  } catch (error) {
    serverSays.value = String(error);
  }
}
