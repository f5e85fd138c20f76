/// <reference lib="webworker" />
// The thread in which the command runs. It holds the files, so that a question does not carry them along.
import { allFindings, graph, type Graph } from "../model/graph";
import type { Finding, Report } from "../model/report";
import { run } from "./command.js";

/** What `validate` says, as the page needs it: a tenth of the report. */
export interface Checked { findings: Finding[]; graph: Graph; resources: number; verdicts: Record<string, number>; notChecked: string[]; client: string }

/** What the page sends: files that changed (null: gone), the compiled command, or a question. */
export type Request =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "files"; files: [string, Uint8Array | null][] }
  | { kind: "ask"; id: number; args: string[]; files: [string, Uint8Array][]; only: string[] | null; as: "text" | "json" | "graph" };

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
    const made = as === "graph" && value !== null ? checked(value as Report) : value;
    return { id, code, out: as === "text" ? out : "", err, value: made, ms: performance.now() - begin, trap: null };
  } catch (error) {
    return { ...blank, ms: performance.now() - begin, trap: String(error) };
  }
}

function checked(report: Report): Checked {
  const { client, not_checked: left, summary } = report;
  return {
    findings: allFindings(report), graph: graph(report), resources: report.resources.length, verdicts: summary.resources,
    notChecked: left.map((one) => one.what), client: [client].flat().join(", "),
  };
}

self.onmessage = ({ data }: MessageEvent<Request>) => {
  switch (data.kind) {
    case "module":
      module = data.module;
      break;
    case "files":
      for (const [name, bytes] of data.files) bytes === null ? files.delete(name) : files.set(name, bytes);
      break;
    case "ask":
      self.postMessage(answer(data));
  }
};
