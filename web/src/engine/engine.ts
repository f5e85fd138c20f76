// Questions for the command, from the page's side: one after the other, each can be cancelled.
import { signal } from "@preact/signals";
import type { As, Reply, Request } from "./worker";

/** What a question comes to: the command's answer. */
export type Answer<T = unknown> = Omit<Reply, "value"> & { value: T | null };

/** Someone stopped the question, or a newer one took its place. */
export class Cancelled extends Error {}

type Question = { args: string[]; files: [string, Uint8Array][]; only: string[] | null; as: As; isSketched: boolean };
type Hear = (answer: Answer<never>) => void;
type Waiting = { question: Question; slot: string; resolve: Hear; early: Hear; reject: (why: Error) => void };

/** `loading` until the command is there, then whether it works, and since when. */
export const status = signal<{ state: "loading" | "idle" | "busy" | "broken"; what: string; since: number }>({
  state: "loading", what: "", since: 0,
});

const files = new Map<string, Uint8Array>();
let module: WebAssembly.Module | null = null;
let worker: Worker | null = null;
let queue: Waiting[] = [];
let running: Waiting | null = null;
let count = 0;

function start() {
  worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => finish(data);
  worker.onerror = (event) => {
    event.preventDefault();
    finish({ id: count, code: 2, out: "", err: "", value: null, ms: 0, trap: event.message || "the worker ended" });
  };
  send({ kind: "module", module: module! });
  sendFiles([...files]);
  next();
}

function send(request: Request, moved: Transferable[] = []) {
  worker?.postMessage(request, moved);
}

/** Files on their way: the thread gets copies of its own, of which no other is made on the way. */
function sendFiles(changes: [string, Uint8Array | null][]) {
  if (worker === null) return;
  const copies = changes.map(([name, bytes]): [string, Uint8Array | null] => [name, bytes?.slice() ?? null]);
  send({ kind: "files", files: copies }, copies.flatMap(([, bytes]) => bytes?.buffer ?? []));
}

function next() {
  if (running !== null || worker === null) return;
  running = queue.shift() ?? null;
  if (running === null) {
    status.value = { state: "idle", what: "", since: 0 };
    return;
  }
  const { args, files: own, only, as, isSketched } = running.question;
  status.value = { state: "busy", what: args[0] ?? "", since: performance.now() };
  send({ kind: "ask", id: ++count, args, files: own, only, as, isSketched });
}

function finish(reply: Reply) {
  if (running === null || reply.id !== count) return;
  if (reply.isEarly) return running.early(reply as Answer<never>);
  const { resolve } = running;
  running = null;
  resolve(reply as Answer<never>);
  next();
}

/** Fetches and compiles the command. */
export async function load(url: string): Promise<void> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    module = await WebAssembly.compileStreaming(response).catch(async () =>
      // A server that does not know the type of WebAssembly.
      WebAssembly.compile(await (await fetch(url)).arrayBuffer()));
    status.value = { state: "idle", what: "", since: 0 };
    start();
    // Code that has run a few times is compiled once more, and better: done before somebody waits for it.
    if (running === null) send({ kind: "warm" });
  } catch (error) {
    status.value = { state: "broken", what: String(error), since: 0 };
  }
}

/** Puts files where the command finds them; null takes one away. */
export function put(changes: [string, Uint8Array | null][]) {
  for (const [name, bytes] of changes) bytes === null ? files.delete(name) : files.set(name, bytes);
  sendFiles(changes);
}

/**
 * Asks the command. A question of the same slot that still waits is forgotten: its answer would be about what was before.
 * `only` are the files that it sees, null for all; `files` are some for this question alone; `early` hears what is known sooner.
 */
export function ask<T, E = T>(slot: string, args: string[], options: Partial<Question> & { early?: (answer: Answer<E>) => void } = {}): Promise<Answer<T>> {
  const { early = () => {}, ...rest } = options;
  const question: Question = { args, files: [], only: null, as: "json", isSketched: false, ...rest };
  return new Promise<Answer<T>>((resolve, reject) => {
    const old = queue.findIndex((waiting) => waiting.slot === slot);
    if (old >= 0) queue.splice(old, 1)[0]!.reject(new Cancelled());
    queue.push({ question, slot, resolve: resolve as Hear, early: early as Hear, reject });
    if (module !== null && worker === null) start();
    next();
  });
}

/** Stops what runs and what waits. A thread that computes hears nothing, so it ends, and a new one begins. */
export function cancel() {
  const isIdle = running === null;
  for (const waiting of [...(running === null ? [] : [running]), ...queue.splice(0)]) waiting.reject(new Cancelled());
  if (isIdle) return;
  running = null;
  count += 1;
  worker?.terminate();
  start();
}
