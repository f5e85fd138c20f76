/// <reference lib="webworker" />
// The thread in which the command runs. It holds the files, so that a question does not carry them along.
import { type Graph, graph, loudest, VALIDATE } from "../model/graph";
import { layout, type Picture } from "../model/layout";
import { pack, type Packed } from "../model/packed";
import type { Finding, Kept, Report, Severity } from "../model/report";
import { run } from "./command.js";

/** What `validate` says, as the page needs it: a tenth of the report. */
export interface Checked {
  findings: Finding[]; severities: Record<Severity, number>; graph: Packed | null; resources: number; verdicts: Record<string, number>;
  notChecked: string[]; client: string;
}

/** What stands first of a large picture: the boxes that are seen, while the page has no graph yet. */
export interface Sketched { sketch: Picture }

/** What the page sends: files that changed (null: gone), the compiled command, or a question. */
export type Request =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "warm" }
  | { kind: "files"; files: [string, Uint8Array | null][] }
  | { kind: "ask"; id: number; args: string[]; files: [string, Uint8Array][]; only: string[] | null; as: As; isSketched: boolean };

/** What the page needs of the output: the text, the JSON, or what `Checked` has of it, with the picture or without. */
export type As = "text" | "json" | "graph" | "list";

/**
 * What comes back: `value` is the parsed JSON if that was asked for, `ms` how long the command ran. `isEarly` is what was found, while
 * the command still writes what the picture is made of, and then a sketch of that.
 */
export type Reply = { id: number; code: number; out: string; err: string; value: unknown; ms: number; trap: string | null; isEarly?: boolean };

let module: WebAssembly.Module | null = null;
const files = new Map<string, Uint8Array>();

function answer(request: Extract<Request, { kind: "ask" }>): Reply {
  const begin = performance.now();
  const { id, args, only, as } = request;
  const blank = { id, code: 2, out: "", err: "", value: null, trap: null };
  if (module === null) return { ...blank, ms: 0, trap: "the command is not loaded" };
  const seen = only === null ? [...files] : only.flatMap((name): [string, Uint8Array][] => {
    const bytes = files.get(name);
    return bytes === undefined ? [] : [[name, bytes]];
  });
  const early = (value: Checked | Sketched) => self.postMessage({ ...blank, code: 0, value, ms: performance.now() - begin, isEarly: true } satisfies Reply);
  try {
    const halves = new Halves((report) => early(checked(report, "list")));
    const { code, out, err } = run(module, args, [...seen, ...request.files], undefined, as === "graph" ? (part) => halves.hear(part) : undefined);
    const value = as === "text" || out === "" ? null : halves.whole(out);
    const made = (as === "graph" || as === "list") && value !== null ? checked(value as Report, as, request.isSketched ? (sketch) => early({ sketch }) : undefined) : value;
    return { id, code, out: as === "text" ? out : "", err, value: made, ms: performance.now() - begin, trap: null };
  } catch (error) {
    return { ...blank, ms: performance.now() - begin, trap: String(error) };
  }
}

/** What stands between what was found and what the client keeps (docs/json.md: `kept`). */
const KEPT = '"kept": [';
const BETWEEN = `,\n  ${KEPT}`;

/** A report of `--show reached`, read while it is written: what was found comes first. */
class Halves {
  first: Report | null = null;
  /** What is written of the half that is heard. */
  text = "";

  constructor(readonly found: (report: Report) => void) {}

  hear(part: string) {
    this.text += part;
    // A part ends there, and no text of JSON has these quotes in it. The whole is looked at once, as that puts it together.
    if (this.first !== null || !part.endsWith(KEPT) || !this.text.endsWith(BETWEEN)) return;
    this.first = JSON.parse(`${this.text.slice(0, -BETWEEN.length)}}`) as Report;
    this.text = "";
    this.found(this.first);
  }

  /** The report with what the client keeps of each resource; `out` is what is written if there is no second half. */
  whole(out: string): Report {
    if (this.first === null) return JSON.parse(out) as Report;
    const kept = JSON.parse(`[${this.text.trimEnd().slice(0, -1)}`) as Kept[];
    for (const row of this.first.resources) row.refers_to = [];
    for (const { resource, ...row } of kept) Object.assign(this.first.resources[resource]!, row);
    return this.first;
  }
}

/** Smaller graphs are on the page as soon as a sketch of them would be. */
const SKETCHED_NODES = 2000;

/** The picture that the page begins with: nothing is opened or closed, and of several worlds the first is shown. It needs no edges, lines are there. */
function sketchOf(graph: Graph): Picture {
  const { roots, worlds, nodes } = graph;
  const seen = worlds.length > 1 ? roots.filter((id) => nodes.get(id)?.world === worlds[0]) : roots;
  const { boxes, ...picture } = layout(graph, seen, { open: new Map(), more: new Map() }, new Set());
  const light = boxes.map((box) => ({ ...box, node: box.node && { ...box.node, edges: [] } }));
  return { ...picture, boxes: light, byId: new Map(light.map((box) => [box.id, box])) };
}

function checked(report: Report, as: As, sketched?: (sketch: Picture) => void): Checked {
  const { client, not_checked: left, summary } = report;
  const findings = loudest(report);
  const drawn = as === "graph" ? graph(report, findings) : null;
  if (drawn !== null && drawn.nodes.size > SKETCHED_NODES) sketched?.(sketchOf(drawn));
  return {
    findings, severities: summary.severities, graph: drawn && pack(drawn), resources: report.resources.length, verdicts: summary.resources,
    notChecked: left.map((one) => one.what), client: [client].flat().join(", "),
  };
}

/** How often the command runs before it is needed, and on how many services. */
const [WARM_RUNS, WARM_SERVICES] = [8, 1000];

/** A mesh with a bit of everything: what is taken, rejected, dropped and never read. */
function warmMesh(): string {
  const T = "type.googleapis.com/envoy.config";
  const numbers = Array.from({ length: WARM_SERVICES }, (_, number) => number);
  const name = (number: number) => `outbound|80||service-${number}.warm`;
  const api = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", stat_prefix: "x",
    rds: { config_source: { ads: {} }, route_config_name: "r" },
    http_filters: [{ name: "router", typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } }],
  };
  const to = (number: number) => number % 20 === 0 ? { weighted_clusters: { clusters: [{ name: name(number), weight: 9 }, { name: name(number + 1), weight: 1 }] } } : { cluster: name(number) };
  const hosts = numbers.map((number) => ({
    name: `h${number}`, domains: [`service-${number}.warm`, `service-${number}.warm:80`],
    routes: [{ match: { prefix: `/a.B${number}/` }, route: { ...to(number), timeout: "1s", retry_policy: { retry_on: "unavailable", num_retries: 2 } } }],
  }));
  const clusters = numbers.map((number) => ({
    "@type": `${T}.cluster.v3.Cluster`, name: name(number), type: "EDS", eds_cluster_config: { eds_config: { ads: {} }, service_name: name(number) }, connect_timeout: "1s",
    lb_policy: number % 50 === 0 ? "MAGLEV" : "ROUND_ROBIN",
  }));
  const endpoint = (host: string) => ({ endpoint: { address: { socket_address: { address: host, port_value: 80 } } }, health_status: "HEALTHY" });
  const endpoints = numbers.map((number) => ({
    "@type": `${T}.endpoint.v3.ClusterLoadAssignment`, cluster_name: name(number),
    endpoints: [{ locality: { region: "a", zone: "b" }, load_balancing_weight: 1, lb_endpoints: [endpoint("10.0.0.1"), endpoint(`10.1.0.${number % 250}`)] }],
  }));
  return JSON.stringify([
    { "@type": `${T}.listener.v3.Listener`, name: "warm", api_listener: { api_listener: api } },
    { "@type": `${T}.route.v3.RouteConfiguration`, name: "r", virtual_hosts: hosts }, ...clusters, ...endpoints,
  ]);
}

/** Checks and draws it; between two runs a question is heard. */
function warm(runs: number, file: [string, Uint8Array] = ["warm.json", new TextEncoder().encode(warmMesh())]) {
  if (module === null || runs === 0 || isAsked) return;
  try {
    const halves = new Halves((report) => checked(report, "list"));
    const { out } = run(module, [...VALIDATE, "--show", "reached", file[0]], [file], undefined, (part) => halves.hear(part));
    checked(halves.whole(out), "graph", () => {});
  } catch {
    return; // Whoever asks next is told what is wrong.
  }
  setTimeout(() => warm(runs - 1, file), 0);
}

let isAsked = false;

self.onmessage = ({ data }: MessageEvent<Request>) => {
  switch (data.kind) {
    case "module":
      module = data.module;
      break;
    case "files":
      for (const [name, bytes] of data.files) bytes === null ? files.delete(name) : files.set(name, bytes);
      break;
    case "warm":
      warm(WARM_RUNS);
      break;
    case "ask":
      isAsked = true;
      self.postMessage(answer(data));
  }
};
