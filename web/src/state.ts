// What the page knows: files, clients, what was asked, and what the command said.
import { batch, computed, signal } from "@preact/signals";
import { type Answer, Cancelled, ask, put } from "./engine/engine";
import type { Checked, Sketched } from "./engine/worker";
import { type Graph, type Node, VALIDATE } from "./model/graph";
import { plainly } from "./model/plain";
import { below, type Folding, type Picture, wayTo } from "./model/layout";
import { unpack } from "./model/packed";
import type { Finding, PickReport, Report, RouteReport, Several } from "./model/report";

export interface Doc {
  name: string; bytes: Uint8Array;
  /** The text, of a file that can be edited: UTF-8, and not too large. */
  text: string | null;
  /** As it was opened, to compare with. */
  first: Uint8Array;
  version: number;
}

/** Larger files are shown in parts, and not edited. */
export const EDITED_BYTES = 4 << 20;

/** Of larger inputs, notes are listed when they are asked for. */
export const QUIET_BYTES = 512 << 10;
export const showsNotes = signal(false);

/** What was made for a proxy is checked when somebody asks for it. */
export const judgesProxies = signal(false);

/** Of larger inputs there is no picture of everything. */
export const DRAWN_BYTES = 48 << 20;

export const docs = signal<Doc[]>([]);
export const active = signal("");
/** None: the client whose dump it is, else the command's own default. */
export const clients = signal<string[]>([]);
export const shown = signal("");
/** The arguments that say who is asked. */
export const who = (name = shown.value) => (name === "" ? [] : ["--client", name]);
export const world = signal("");
export const target = signal("");
export const checked = signal<(Omit<Checked, "graph"> & { graph: Graph | null }) | null>(null);
/** What stands first of a large picture, until the graph is there. */
export const sketch = signal<Picture | null>(null);
/** Where a text that is typed cannot be read: until it can, the picture is of the text before. */
export const unread = signal("");
export const matrix = signal<Report | null>(null);
/** What stopped the command, in its words. */
export const trouble = signal("");
export const took = signal(0);
export const selected = signal("");
export const focus = signal("");
export const folding = signal<Folding>({ open: new Map(), more: new Map() });
export const pinned = signal<Set<string>>(new Set());
export const panel = signal<"try" | "play" | "compare" | "log" | "admit" | "matrix">("try");
/** Which part is seen where there is room for one. */
export const part = signal<"files" | "picture" | "panel">("files");
/** Names of resources that the picture is opened at: what they hold is asked for. */
export const reached = signal<string[]>([]);
/** A place that the editor shows. */
export const goal = signal<{ file: string; from: number; to: number; bytes: boolean; nonce: number } | null>(null);
export const page = signal("");

export interface Change { down?: boolean; health?: string; ejected?: boolean; slow?: boolean }

export interface Rpc { method: string; headers: string; session: string; seed: number; count: number }

const SOME_METHOD = "/pkg.Service/Method";
export const rpc = signal<Rpc>({ method: SOME_METHOD, headers: "", session: "", seed: 0, count: 1 });
export const changes = signal<Record<string, Change>>({});
export const tried = signal<{ pick: PickReport | null; several: Several<PickReport> | null; route: RouteReport | null; err: string; command: string } | null>(null);

/** The moment of a test that is looked at: states of connections, and RPCs so far, by address. */
export const moment = signal<{ states: Map<string, string>; counts: Map<string, number> } | null>(null);

/** The two sides of a comparison: names of files, or none for what is open, as it was and as it is. */
export const compared = signal({ before: "", after: "" });

/** What a comparison says about nodes of the picture. */
export const diffed = signal<Map<string, string> | null>(null);

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();
export const encode = (text: string) => encoder.encode(text);

function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > EDITED_BYTES) return null;
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** A suite plays, a log tells; all else is configuration. */
export function roleOf(doc: Doc): "config" | "suite" {
  const head = doc.text?.slice(0, 200_000) ?? "";
  return /^(steps|tests):/m.test(head) || /^\s*\{\s*"(steps|tests|world)"/.test(head) ? "suite" : "config";
}

export const configs = computed(() => docs.value.filter((doc) => roleOf(doc) === "config"));
export const suites = computed(() => docs.value.filter((doc) => roleOf(doc) === "suite"));
const size = computed(() => configs.value.reduce((sum, doc) => sum + doc.bytes.length, 0));
export const isLarge = computed(() => size.value > DRAWN_BYTES);
export const isQuiet = computed(() => size.value > QUIET_BYTES && !showsNotes.value);
export const graph = computed<Graph | null>(() => checked.value?.graph ?? null);

const MOST_SAMPLES = 200;

/** RPCs that routes take, by method: what stands in the form at first, and can be chosen there. One that a route names comes first. */
export const samples = computed(() => {
  const found = new Set<string>();
  for (const { sample } of graph.value?.nodes.values() ?? []) {
    if (sample !== "") found.add(sample.split("\n")[0]!);
    if (found.size >= MOST_SAMPLES) break;
  }
  const isNamed = (method: string) => method !== SOME_METHOD;
  return [...[...found].filter(isNamed), ...(found.has(SOME_METHOD) ? [SOME_METHOD] : [])];
});

/** The roots of what is looked at: one world, or what one node leads to. */
export const roots = computed(() => {
  const at = graph.value;
  if (at === null) return [];
  if (focus.value !== "" && at.nodes.has(focus.value)) return [focus.value];
  return at.roots.filter((id) => world.value === "" || at.nodes.get(id)?.world === world.value);
});

/** A path of a file without what would lead out of the root. */
const clean = (name: string) => name.split("/").filter((step) => step !== "" && step !== "." && step !== "..").join("/").slice(0, 300) || "paste.yaml";

/** Opens files in addition to those that are open; one of the same name is replaced. */
export function open(files: [string, Uint8Array][], { instead = false, keepsActive = false } = {}) {
  const before = new Map(docs.value.map((doc) => [doc.name, doc]));
  const fresh = files.map(([path, bytes]): Doc => {
    const name = clean(path);
    const old = keepsActive ? before.get(name) : undefined;
    return { name, bytes, text: textOf(bytes), first: old?.first ?? bytes, version: old === undefined ? 0 : old.version + 1 };
  });
  const names = new Set(fresh.map((doc) => doc.name));
  batch(() => {
    const gone = docs.value.filter((doc) => instead && !names.has(doc.name));
    docs.value = [...docs.value.filter((doc) => !names.has(doc.name) && !gone.includes(doc)), ...fresh];
    put([...gone.map((doc): [string, null] => [doc.name, null]), ...fresh.map((doc): [string, Uint8Array] => [doc.name, doc.bytes])]);
    if (!keepsActive || active.value === "") active.value = fresh[0]?.name ?? active.value;
    if (instead) reset();
  });
  check();
}

function reset() {
  world.value = target.value = selected.value = focus.value = page.value = "";
  reached.value = [];
  judgesProxies.value = false;
  folding.value = { open: new Map(), more: new Map() };
  pinned.value = new Set();
  changes.value = {};
  tried.value = null;
  compared.value = { before: "", after: "" };
  rpc.value = { method: SOME_METHOD, headers: "", session: "", seed: 0, count: 1 };
}

/** Chooses the clients that are asked; the first of them is drawn. */
export function choose(names: string[]) {
  clients.value = names;
  if (!names.includes(shown.value)) shown.value = names[0] ?? "";
}

export function close(name: string) {
  batch(() => {
    docs.value = docs.value.filter((doc) => doc.name !== name);
    if (active.value === name) active.value = docs.value[0]?.name ?? "";
    put([[name, null]]);
  });
  check();
}

/** The text of a file, as the editor has it now. */
export function edit(name: string, text: string) {
  performance.mark("edited");
  const bytes = encode(text);
  put([[name, bytes]]);
  docs.value = docs.value.map((doc) => (doc.name === name ? { ...doc, text, bytes, version: doc.version + 1 } : doc));
  void check(true);
  clearTimeout(pause);
  pause = setTimeout(() => void check(), PAUSE_MS);
}

/** The picture of a text that is typed follows when the keys rest. */
const PAUSE_MS = 300;
let pause: ReturnType<typeof setTimeout> | undefined;

const NO_CONFIG = "--no-config";

/** The arguments that say which files and which channel. */
export function channel(): string[] {
  return [
    NO_CONFIG, ...(world.value !== "" && (graph.value?.worlds.length ?? 0) > 1 ? ["--in", world.value] : []),
    ...(target.value !== "" ? ["--target", `xds:///${target.value}`] : []), ...configs.value.map((doc) => doc.name),
  ];
}

const told = (answer: Answer) => answer.trap !== null
  ? `the command ended unexpectedly (${answer.trap}): the input may need more memory or a deeper stack than a browser gives`
  : plainly(answer.err.trim());

/** The rule of a text that is no JSON, YAML or what it should be. */
const UNREADABLE = "dump-syntax";

/** A picture of before: what was found then has other numbers now. */
const withoutFindings = (before: Graph): Graph => ({ ...before, nodes: new Map([...before.nodes].map(([id, node]) => [id, { ...node, findings: [] }])) });

/** Which of the questions about everything is the newest. */
let version = 0;

/** Asks again about everything, because a file or a choice has changed; while somebody types, for what is found alone. */
export async function check(isTyped = false) {
  const names = configs.value.map((doc) => doc.name);
  if (names.length === 0) {
    batch(() => { checked.value = matrix.value = sketch.value = null; trouble.value = unread.value = ""; tried.value = null; });
    return;
  }
  const own = (version += 1);
  try {
    const reach = [target.value, ...reached.value].filter((name) => name !== "").flatMap((name) => ["--reach", name]);
    const quiet = isQuiet.value ? ["--min-severity", "warning"] : [];
    const asked = [...(judgesProxies.value ? ["--all"] : []), ...names];
    const common = [...quiet, ...who(), ...asked];
    const take = (answer: Answer<Checked>, graph: Graph | null) => {
      took.value = answer.ms;
      trouble.value = answer.value === null || answer.code === 2 ? told(answer) : "";
      if (answer.value !== null) checked.value = { ...answer.value, graph };
      requestAnimationFrame(() => performance.mark("answered")); // test/speed.mjs measures up to here
    };
    if (isLarge.value || isTyped) {
      const listed = await ask<Checked>("check", [...VALIDATE, ...common], { as: "list" });
      if (own === version) batch(() => take(listed, isTyped ? checked.value?.graph ?? null : null));
      if (isTyped) return;
    } else {
      // What is found is said while the picture is made; the picture of before stays until the new one is there.
      const early = (answer: Answer<Checked | Sketched>) => {
        const { value } = answer;
        if (own !== version || value === null) return;
        if ("sketch" in value) sketch.value = value.sketch;
        else batch(() => take({ ...answer, value }, checked.value?.graph ?? null));
      };
      const isSketched = graph.value === null && world.value === "";
      const answer = await ask<Checked, Checked | Sketched>("check", [...VALIDATE, "--show", "reached", ...reach, ...common], { as: "graph", isSketched, early });
      if (own === version) {
        batch(() => {
          const broken = answer.value?.findings.find((one) => one.rule === UNREADABLE && docs.value.some((doc) => doc.name === one.file && doc.version > 0));
          const isKept = broken !== undefined && (graph.value?.nodes.size ?? 0) > 0;
          const made = isKept ? withoutFindings(graph.value!) : answer.value?.graph ? unpack(answer.value.graph) : null;
          unread.value = isKept ? `${broken.file}:${broken.line}` : "";
          sketch.value = null;
          take(answer, made);
          const { worlds = [], listeners = [] } = made ?? {};
          if (world.value !== "" && !worlds.includes(world.value)) world.value = "";
          if (target.value !== "" && !listeners.includes(target.value)) target.value = "";
          if (target.value === "" && listeners.length > 1) target.value = listeners[0]!;
          if (world.value === "" && worlds.length > 1) world.value = worlds[0]!;
          if (rpc.value.method === SOME_METHOD && samples.value[0] !== undefined) rpc.value = { ...rpc.value, method: samples.value[0] };
        });
      }
    }
    if (clients.value.length > 1) {
      const all = await ask<Report>("matrix", [...VALIDATE, ...who(clients.value.join(",")), ...asked]);
      matrix.value = all.value;
    } else {
      matrix.value = null;
    }
    if (tried.value !== null) await send();
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    if (own === version) sketch.value = null; // a picture to which no graph will come
  }
}

/** The header lines of the form: `name: value` or `name=value`. */
const headerArgs = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "").flatMap((line) => ["--header", line]);

/** What was changed, as arguments; what has none is a step. */
export function changeArgs(): string[] {
  return Object.entries(changes.value).flatMap(([address, { down, health, ejected }]) => [
    ...(down ? ["--down", address] : []), ...(health ? ["--health", `${address}=${health}`] : []), ...(ejected ? ["--eject", address] : []),
  ]);
}

/** The same for people, to paste into a shell. */
export const shell = (args: string[]) => ["xdsctl", ...args.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`))].join(" ");

const SLOW_SECONDS = 2;

/** Sends the RPC of the form. */
export async function send() {
  const { method, headers, session, seed, count } = rpc.value;
  const asked = ["--method", method, ...headerArgs(headers), "--seed", String(seed)];
  const only = configs.value.map((doc) => doc.name);
  const slow = Object.keys(changes.value).filter((address) => changes.value[address]?.slow);
  const with_ = [...asked, ...(session === "" ? [] : ["--session", session]), ...changeArgs()];
  const several = clients.value.length > 1 && slow.length === 0;
  const asks = who(several ? clients.value.join(",") : shown.value);
  const files: [string, Uint8Array][] = [];
  let args = ["pick", "--format", "json", ...asks, ...with_, ...(count > 1 ? ["--count", String(count)] : ["--explain"]), ...channel()];
  if (slow.length > 0) {
    const steps = [
      { backend: Object.fromEntries(slow.map((address) => [address, { latency: SLOW_SECONDS }])) },
      { pick: { method, headers: pairs(headers), count, ...(session === "" ? {} : { session }) } },
    ];
    files.push(["steps.jsonl", encode(steps.map((step) => JSON.stringify(step)).join("\n"))]);
    args = ["pick", "--format", "json", ...asks, "--seed", String(seed), ...changeArgs(), "--requests", "steps.jsonl", ...channel()];
  }
  try {
    const pick = await ask<PickReport | Several<PickReport>>("pick", args, { only, files });
    const route = await ask<RouteReport>("route", ["route", "--format", "json", ...who(), ...asked, ...channel()], { only });
    const isSeveral = pick.value !== null && "answers" in pick.value;
    tried.value = {
      pick: isSeveral ? (pick.value as Several<PickReport>).answers.find((one) => one.client.startsWith(shown.value.split("@")[0]!))?.answer ?? null : (pick.value as PickReport | null),
      several: isSeveral ? (pick.value as Several<PickReport>) : null, route: route.value, err: told(pick), command: shell(args.filter((arg) => arg !== NO_CONFIG)),
    };
    // Where it ends up is on the way, which opens as far as it can be seen.
    const lit = [...way.value].slice(0, MOST_OPENED);
    batch(() => {
      const open = new Map(folding.value.open);
      for (const id of lit) open.set(id, true);
      folding.value = { ...folding.value, open };
      pinned.value = new Set([...pinned.value, ...lit]);
    });
    reach([...way.value].map((id) => graph.value?.nodes.get(id)).filter((node) => node?.kind === "cluster"));
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
  }
}

/** The headers of the form as pairs. */
export const pairs = (text: string) => text.split("\n").map((line) => /^\s*([^:=\s]+)\s*[:=]\s*(.*?)\s*$/.exec(line)).filter((match) => match !== null).map((match) => [match[1]!, match[2]!]);

/** Nodes on the way of the RPC that was tried. */
export const way = computed<Set<string>>(() => {
  const lit = new Set<string>();
  const at = graph.value;
  const answer = tried.value;
  if (at === null || answer === null) return lit;
  const { route, pick } = answer;
  const trace = (pick?.picks[0]?.trace ?? []) as { layer: string; what: string }[];
  const last = trace.map((step) => step.layer).lastIndexOf("pick");
  const clusters = new Set(trace.slice(Math.max(0, last)).filter((step) => step.layer === "cds_experimental").map((step) => /cluster "(.*)"/.exec(step.what)?.[1] ?? ""));
  const key = route?.route?.selected_key;
  const chosen = pick?.picks.flatMap((one) => one.cluster ?? []) ?? [];
  for (const cluster of chosen) clusters.add(cluster);
  if (chosen.length === 0 && key?.startsWith("cluster:")) clusters.add(key.slice("cluster:".length));
  const backends = new Set(pick?.picks.flatMap((one) => one.attempts) ?? []);
  const start = [...at.nodes.values()].find((node) => node.type === "Listener" && (target.value === "" || node.name === target.value) && (world.value === "" || node.world === world.value));
  if (start === undefined) return lit;
  lit.add(start.id);
  const under = below(at, start.id);
  for (const id of under) {
    const node = at.nodes.get(id);
    if (node === undefined) continue;
    const isHost = node.kind === "virtual_host" && route?.virtual_host && node.path.endsWith(`virtual_hosts[${route.virtual_host.index}]`);
    const isRoute = node.kind === "route" && route?.route && route.virtual_host && node.path.endsWith(`virtual_hosts[${route.virtual_host.index}].routes[${route.route.index}]`);
    const isCluster = node.kind === "cluster" && clusters.has(node.name);
    if (isHost || isRoute || isCluster) lit.add(id);
  }
  for (const id of [...lit].filter((one) => at.nodes.get(one)?.kind === "cluster")) {
    for (const inner of below(at, id)) {
      const leaf = at.nodes.get(inner);
      if (leaf?.kind !== "endpoint" || !backends.has(leaf.address)) continue;
      for (const step of wayTo(at, [id], inner)) lit.add(step);
    }
  }
  return lit;
});

/** Nodes on the way at which an RPC that was tried fails: the clusters that it was sent to, else the last node before. */
export const failing = computed<Set<string>>(() => {
  const failed = tried.value?.pick?.picks.filter((one) => one.code !== "OK") ?? [];
  const nodes = [...way.value].map((id) => graph.value?.nodes.get(id)).filter((node) => node !== undefined);
  const clusters = new Set(failed.map((one) => one.cluster));
  const hit = nodes.filter((node) => (node.kind === "cluster" && clusters.has(node.name)) || failed.some((one) => one.attempts.includes(node.address)));
  const last = nodes.findLast((node) => ["listener", "virtual_host", "route"].includes(node.kind));
  return new Set((failed.length > 0 && hit.length === 0 && last !== undefined ? [last] : hit).map((node) => node.id));
});

/** Boxes of an RPC's way that are opened. */
const MOST_OPENED = 100;

/** Resources that are opened at a time; those that were asked for last stay. */
const MOST_REACHED = 60;

/** Asks what these resources hold, if that is not known. */
export function reach(nodes: (Node | undefined)[]) {
  const names = nodes.filter((node) => node?.isClosed).map((node) => node!.name);
  const fresh = names.filter((name) => !reached.value.includes(name));
  if (fresh.length === 0) return;
  reached.value = [...fresh, ...reached.value].slice(0, MOST_REACHED);
  void check();
}

/** Shows a node in the picture, and its line in the editor. */
export function reveal(id: string, inEditor = true) {
  const at = graph.value;
  const node = at?.nodes.get(id);
  if (at === null || node === undefined) return;
  batch(() => {
    let steps = wayTo(at, roots.value, id);
    if (steps.length === 0) {
      focus.value = "";
      world.value = at.worlds.length > 1 ? node.world : "";
      steps = wayTo(at, roots.value, id);
    }
    const open = new Map(folding.value.open);
    for (const step of steps.slice(0, -1)) open.set(step, true);
    folding.value = { ...folding.value, open };
    pinned.value = new Set([...pinned.value, ...steps]);
    selected.value = id;
  });
  reach([node]);
  if (inEditor) void goTo(node);
}

let nonce = 0;

/** Shows a place of a file in the editor. */
export function show(file: string, from: number, to: number, bytes = false) {
  if (!docs.value.some((doc) => doc.name === file)) return;
  batch(() => {
    active.value = file;
    goal.value = { file, from, to, bytes, nonce: (nonce += 1) };
  });
}

export function showFinding(finding: Finding) {
  if (finding.file === null || finding.byte_start === null) return;
  show(finding.file, finding.byte_start, finding.byte_end ?? finding.byte_start, true);
}

async function goTo(node: Node) {
  const place = await placeIn(node, node.path);
  if (place !== null) show(node.file, place.from, place.to, true);
}

/** Where a field of a node's resource stands: its bytes, and its line. */
export async function placeIn(node: Node, path: string): Promise<{ from: number; to: number; line: number } | null> {
  const doc = docs.value.find((one) => one.name === node.file);
  if (doc === undefined) return null;
  const { placeOf } = await import("./model/place");
  const [from, to] = placeOf(doc, node.start, node.end, path);
  let line = 1;
  for (let at = doc.bytes.indexOf(0x0a); at >= 0 && at < from; at = doc.bytes.indexOf(0x0a, at + 1)) line += 1;
  return { from, to, line };
}
