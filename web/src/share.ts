// What is taken along: a suite of what was tried, the picture, a link that holds the state.
import { ask } from "./engine/engine";
import { changes, choose, clients, configs, docs, encode, open, pairs, panel, part, rpc, send, shown, target, tried } from "./state";
import { type Change, type Rpc, world } from "./state";

/** Links that are longer are cut by what they are pasted into. */
export const LINK_BYTES = 30_000;

/** What a link may unpack to. */
const UNPACKED_BYTES = 2 << 20;

export function download(name: string, text: string, type: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The steps that the form and the clicks come to. */
function steps(expects: boolean): unknown[] {
  const { method, headers, session, count } = rpc.value;
  const made: unknown[] = [];
  for (const [address, change] of Object.entries(changes.value)) {
    if (change.down) made.push({ stop: address });
    if (change.health) made.push({ health: { [address]: change.health } });
    if (change.slow) made.push({ backend: { [address]: { latency: 2 } } });
  }
  if (made.length > 0) made.push({ sleep: 1 });
  const pick = tried.value?.pick;
  const codes = [...new Set(pick?.picks.map((one) => one.code) ?? [])];
  const backends = [...new Set(pick?.picks.map((one) => one.backend).filter((one) => one !== null) ?? [])];
  const route = tried.value?.route?.route;
  const expect = expects && codes.length > 0 ? {
    status: codes.length === 1 ? codes[0] : codes, ...(backends.length > 0 ? { address: backends.length === 1 ? backends[0] : backends } : {}),
    ...(route !== null && route !== undefined ? { route: route.index } : {}),
  } : null;
  made.push({ pick: { method, headers: pairs(headers), ...(count > 1 ? { count } : {}), ...(session === "" ? {} : { session }) }, ...(expect === null ? {} : { expect }) });
  return made;
}

function suite(expects: boolean): string {
  const files = configs.value.map((doc) => doc.name);
  return JSON.stringify({
    world: files.length === 1 ? files[0] : files, ...(shown.value === "" ? {} : { kind: shown.value }), seed: rpc.value.seed, ...(target.value === "" ? {} : { target: `xds:///${target.value}` }),
    steps: steps(expects),
  }, null, 2);
}

interface Tested { suites: { faults: { message: string }[]; tests: { result: string; error: string | null }[] }[] }

/** Saves what was tried as a suite that `xdsctl test` passes; where it does not, as one that expects less. */
export async function saveSuite(toPlay = false): Promise<string> {
  const name = "tried.suite.json";
  if (tried.value === null) await send();
  for (const expects of [true, false]) {
    const text = suite(expects);
    const { value, trap } = await ask<Tested>("save", ["test", "--format", "json", name], { files: [[name, encode(text)]] });
    const own = value?.suites[0];
    const passes = own !== undefined && own.faults.length === 0 && own.tests.every((test) => test.result === "passed");
    if (!passes && expects) continue;
    if (!passes) return own?.faults[0]?.message ?? own?.tests[0]?.error ?? trap ?? "it cannot be played";
    if (toPlay) {
      open([[name, encode(text)]]);
      panel.value = "play";
      part.value = "panel";
    } else {
      download(name, text, "application/json");
    }
    const ejected = Object.values(changes.value).some((change) => change.ejected) ? "; a suite cannot eject an endpoint, so that is left out" : "";
    return `${name}: \`xdsctl test\` passes it beside the files${expects ? "" : ", without what it expects of addresses"}${ejected}`;
  }
  return "";
}

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "font-family", "font-size", "font-weight"];

/** The picture as it is seen, with its colours. */
export function saveSvg() {
  const svg = document.querySelector<SVGSVGElement>("#picture");
  if (svg === null) return;
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) (to[index] as SVGElement).setAttribute(name, style.getPropertyValue(name));
    to[index]!.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  download("channel.svg", new XMLSerializer().serializeToString(copy), "image/svg+xml");
}

interface Linked { files: [string, string][]; clients: string[]; target: string; rpc: Rpc; changes: Record<string, Change> }

const through = async (bytes: Uint8Array, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> => {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error("the link holds too much");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** A text as a report may quote it. */
async function quoted(name: string, text: string): Promise<string> {
  const { out, code, err, trap } = await ask("mask", ["mask", name], { as: "text", only: [], files: [[name, encode(text)]] });
  if (code !== 0) throw new Error(trap ?? err.trim());
  return out;
}

/** Files and headers as a report may quote them: what is in a link is read by whoever gets it. Says where something is masked. */
async function quotable(): Promise<{ files: [string, string][]; headers: string; masked: string[] }> {
  const files: [string, string][] = [];
  const masked: string[] = [];
  for (const doc of docs.value) {
    if (doc.text === null) throw new Error(`${doc.name} is too large for a link, or no text`);
    const text = await quoted(doc.name, doc.text);
    if (text !== doc.text) masked.push(doc.name);
    files.push([doc.name, text]);
  }
  // The headers of a suite are masked as those of any other.
  const form = JSON.stringify({ steps: [{ pick: { headers: pairs(rpc.value.headers) } }] });
  const said = await quoted("form.suite.json", form);
  if (said !== form) masked.push("the headers");
  const { steps: [step] } = JSON.parse(said) as { steps: { pick: { headers: [string, string][] } }[] };
  return { files, masked, headers: step!.pick.headers.map((pair) => pair.join(": ")).join("\n") };
}

/** A link that holds files and form. */
export async function link(): Promise<{ url: string; said: string }> {
  const { files, headers, masked } = await quotable();
  const state: Linked = { files, clients: clients.value, target: target.value, rpc: { ...rpc.value, headers }, changes: changes.value };
  const packed = await through(encode(JSON.stringify(state)), new CompressionStream("deflate-raw"), UNPACKED_BYTES);
  if (packed.length > LINK_BYTES) throw new Error(`the files need ${packed.length} bytes, and a link holds ${LINK_BYTES}`);
  const text = btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const here = new URL(location.href);
  here.hash = `z=${text}`;
  here.search = "";
  const said = masked.length === 0 ? "It holds the files as they are." : `What is or might be a secret is masked in ${masked.join(", ")}.`;
  return { url: here.href, said };
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Opens what a link holds. It may come from anybody: of what it says only what has the right form is taken. */
export async function openLink(hash: string): Promise<void> {
  const text = /^#z=([\w-]{1,60000})$/.exec(hash)?.[1];
  if (text === undefined) return;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"), UNPACKED_BYTES))) as Partial<Linked>;
    const files = (Array.isArray(state.files) ? state.files : []).filter((file) => Array.isArray(file) && isText(file[0]) && isText(file[1]));
    const named = (Array.isArray(state.clients) ? state.clients : []).filter((name) => isText(name) && /^[a-z]+(@[\w.-]+)?$/.test(name));
    const form = state.rpc as Partial<Rpc> | undefined;
    choose(named.slice(0, 20));
    open(files.slice(0, 100).map(([name, body]): [string, Uint8Array] => [name, encode(body)]), { instead: true });
    world.value = "";
    if (isText(state.target)) target.value = state.target;
    rpc.value = {
      method: isText(form?.method) ? form.method : rpc.value.method, headers: isText(form?.headers) ? form.headers : "",
      session: isText(form?.session) ? form.session : "", seed: count(form?.seed, 0), count: Math.min(100_000, count(form?.count, 1)),
    };
    const clicked: Record<string, Change> = {};
    for (const [address, change] of Object.entries((state.changes ?? {}) as Record<string, unknown>)) {
      if (!/^[\w.:[\]-]{1,100}$/.test(address) || typeof change !== "object" || change === null || address === "__proto__") continue;
      const { down, health, ejected, slow } = change as Record<string, unknown>;
      clicked[address] = { down: down === true, ejected: ejected === true, slow: slow === true, ...(isText(health) && /^[A-Z]{1,20}$/.test(health) ? { health } : {}) };
    }
    changes.value = clicked;
  } catch {
    // A link that is cut, or none of ours: the page stays as it is.
  }
}

const count = (value: unknown, least: number) => typeof value === "number" && Number.isSafeInteger(value) && value >= least ? value : least;
