/// <reference lib="webworker" />
// The thread in which the command runs. It holds the files, so that a question does not carry them along.
import { type Graph, graph, loudest } from "../model/graph";
import type { Finding, Report, Severity } from "../model/report";
import { run } from "./command.js";

/** What `validate` says, as the page needs it: a tenth of the report. */
export interface Checked {
  findings: Finding[]; severities: Record<Severity, number>; graph: Graph | null; resources: number; verdicts: Record<string, number>;
  notChecked: string[]; client: string;
}

/** What the page sends: files that changed (null: gone), the compiled command, or a question. */
export type Request =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "warm" }
  | { kind: "files"; files: [string, Uint8Array | null][] }
  | { kind: "ask"; id: number; args: string[]; files: [string, Uint8Array][]; only: string[] | null; as: As };

/** What the page needs of the output: the text, the JSON, or what `Checked` has of it, with the picture or without. */
export type As = "text" | "json" | "graph" | "list";

/** What comes back: `value` is the parsed JSON if that was asked for, `ms` how long the command ran. */
export type Reply = { id: number; code: number; out: string; err: string; value: unknown; ms: number; trap: string | null };

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
  try {
    const { code, out, err } = run(module, args, [...seen, ...request.files]);
    const value = as !== "text" && out !== "" ? JSON.parse(out) : null;
    const made = (as === "graph" || as === "list") && value !== null ? checked(value as Report, as) : value;
    return { id, code, out: as === "text" ? out : "", err, value: made, ms: performance.now() - begin, trap: null };
  } catch (error) {
    return { ...blank, ms: performance.now() - begin, trap: String(error) };
  }
}

function checked(report: Report, as: As): Checked {
  const { client, not_checked: left, summary } = report;
  const findings = loudest(report);
  return {
    findings, severities: summary.severities, graph: as === "graph" ? graph(report, findings) : null, resources: report.resources.length, verdicts: summary.resources,
    notChecked: left.map((one) => one.what), client: [client].flat().join(", "),
  };
}

/** How often the command runs before it is needed, and on how many services. */
const [WARM_RUNS, WARM_SERVICES] = [3, 60];

/** A small mesh, checked and drawn; between two runs a question is heard. */
function warm(runs: number) {
  if (module === null || runs === 0 || isAsked) return;
  const T = "type.googleapis.com/envoy.config";
  const made = Array.from({ length: WARM_SERVICES }, (_, number) => [
    { "@type": `${T}.cluster.v3.Cluster`, name: `c${number}`, type: "EDS", eds_cluster_config: { eds_config: { ads: {} } }, connect_timeout: "1s" },
    { "@type": `${T}.route.v3.RouteConfiguration`, name: `r${number}`, virtual_hosts: [{ name: "v", domains: ["*"], routes: [{ match: { prefix: "/a" }, route: { cluster: `c${number}`, retry_policy: { retry_on: "unavailable" } } }] }] },
    { "@type": `${T}.endpoint.v3.ClusterLoadAssignment`, cluster_name: `c${number}`, endpoints: [{ locality: { zone: "a" }, load_balancing_weight: 1, lb_endpoints: [{ endpoint: { address: { socket_address: { address: "10.0.0.1", port_value: 80 } } } }] }] },
  ]);
  try {
    const file: [string, Uint8Array] = ["warm.json", new TextEncoder().encode(JSON.stringify(made.flat()))];
    checked(JSON.parse(run(module, ["validate", "--no-config", "--format", "json", "--show", "reached", "warm.json"], [file]).out) as Report, "graph");
  } catch {
    return; // Whoever asks next is told what is wrong.
  }
  setTimeout(() => warm(runs - 1), 0);
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
