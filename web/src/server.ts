// `xdsctl ui`: the files that it was started with, and addresses that it fetches from. As static files the page has no server.
import { signal } from "@preact/signals";
import { docs, open, part } from "./state";

/** The token of the server that this page came from. */
export const server = signal<string | null>(null);

const TOKEN = /^#token=([0-9a-f]{32,})$/;

async function call(path: string, body?: string): Promise<Response> {
  const response = await fetch(path, { method: body === undefined ? "GET" : "POST", headers: { authorization: `Bearer ${server.value ?? ""}` }, ...(body === undefined ? {} : { body }) });
  if (!response.ok) throw new Error((await response.text()).slice(0, 2000) || `${response.status}`);
  return response;
}

/** Finds the server by the token in the address, and opens what it was given. The token leaves the address bar. */
export async function connect(): Promise<boolean> {
  const token = TOKEN.exec(location.hash)?.[1] ?? sessionStorage.getItem("token");
  if (token === null || token === undefined) return false;
  server.value = token;
  try {
    const { files, watch } = (await (await call("api/files")).json()) as { files: string[]; watch: boolean };
    sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
    if (files.length > 0) open(await Promise.all(files.map(fetched)));
    if (watch) void follow();
    return true;
  } catch {
    server.value = null;
    sessionStorage.removeItem("token");
    return false;
  }
}

const fetched = async (name: string, index: number): Promise<[string, Uint8Array]> => [name, new Uint8Array(await (await call(`api/file/${index}`)).arrayBuffer())];

/** Opens what the server fetches from a running system. */
export async function openAddress(address: string): Promise<void> {
  const response = await call("api/fetch", address.trim());
  open([[address.trim().replace(/[^\w.-]+/g, "_") + ".json", new Uint8Array(await response.arrayBuffer())]]);
  part.value = "picture";
}

/** Waits for new versions, and shows each. */
async function follow() {
  for (let version = 0; server.value !== null; ) {
    try {
      const response = await call(`api/next?after=${version}`);
      version = Number(response.headers.get("x-version"));
      const name = response.headers.get("x-name") ?? "watched.json";
      const bytes = new Uint8Array(await response.arrayBuffer());
      const old = docs.value.find((doc) => doc.name === name);
      open([[name, bytes]]);
      if (old !== undefined) docs.value = docs.value.map((doc) => (doc.name === name ? { ...doc, first: old.first, version: old.version + 1 } : doc));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
