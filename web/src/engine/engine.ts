// Questions for the command, from the page's side: one after the other, each can be cancelled.
//
// There are two threads. The first answers what somebody waits for; the second draws what is large, at the same time.
import { signal } from "@preact/signals";
import type { As, Reply, Request } from "./worker";

/** What a question comes to: the command's answer. */
export type Answer<T = unknown> = Omit<Reply, "value"> & { value: T | null };

/** Someone stopped the question, or a newer one took its place. */
export class Cancelled extends Error {}

type Question = { args: string[]; files: [string, Uint8Array][]; only: string[] | null; as: As };
type Waiting = { question: Question; slot: string; resolve: (answer: Answer<never>) => void; reject: (why: Error) => void };

/** `loading` until the command is there, then whether it works, and since when. */
export const status = signal<{ state: "loading" | "idle" | "busy" | "broken"; what: string; since: number }>({
  state: "loading", what: "", since: 0,
});

const files = new Map<string, Uint8Array>();
let module: WebAssembly.Module | null = null;

/** A thread and the questions that wait for it. */
class Thread {
  queue: Waiting[] = [];
  running: Waiting | null = null;
  since = 0;
  worker: Worker | null = null;
  count = 0;

  start() {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.finish(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.finish({ id: this.count, code: 2, out: "", err: "", value: null, ms: 0, trap: event.message || "the worker ended" });
    };
    this.send({ kind: "module", module: module! });
    this.send({ kind: "files", files: [...files] });
    this.next();
  }

  send(request: Request) {
    this.worker?.postMessage(request);
  }

  ask(waiting: Waiting) {
    const old = this.queue.findIndex(({ slot }) => slot === waiting.slot);
    if (old >= 0) this.queue.splice(old, 1)[0]!.reject(new Cancelled());
    this.queue.push(waiting);
    if (module !== null && this.worker === null) this.start();
    this.next();
  }

  next() {
    if (this.running !== null || this.worker === null) return;
    this.running = this.queue.shift() ?? null;
    if (this.running === null) return;
    const { args, files: own, only, as } = this.running.question;
    this.since = performance.now();
    tell();
    this.send({ kind: "ask", id: ++this.count, args, files: own, only, as });
  }

  finish(reply: Reply) {
    if (this.running === null || reply.id !== this.count) return;
    const { resolve } = this.running;
    this.running = null;
    tell();
    resolve(reply as Answer<never>);
    this.next();
  }

  /** Stops what runs and what waits. A thread that computes hears nothing, so it ends, and a new one begins. */
  cancel() {
    const isIdle = this.running === null;
    for (const waiting of [...(this.running === null ? [] : [this.running]), ...this.queue.splice(0)]) waiting.reject(new Cancelled());
    if (isIdle) return;
    this.running = null;
    this.count += 1;
    this.worker?.terminate();
    this.worker = null;
    this.start();
  }
}

const [first, second] = [new Thread(), new Thread()];

function tell() {
  const at = first.running !== null ? first : second;
  status.value = at.running === null ? { state: "idle", what: "", since: 0 } : { state: "busy", what: at.running.question.args[0] ?? "", since: at.since };
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
    first.start();
    if (second.queue.length > 0) second.start();
    // Code that has run a few times is compiled once more, and better: done before somebody waits for it.
    if (first.running === null) first.send({ kind: "warm" });
  } catch (error) {
    status.value = { state: "broken", what: String(error), since: 0 };
  }
}

/** Puts files where the command finds them; null takes one away. */
export function put(changes: [string, Uint8Array | null][]) {
  for (const [name, bytes] of changes) bytes === null ? files.delete(name) : files.set(name, bytes);
  for (const thread of [first, second]) thread.send({ kind: "files", files: changes });
}

/**
 * Asks the command. A question of the same slot that still waits is forgotten: its answer would be about what was before.
 * `only` are the files that it sees, null for all; `files` are some for this question alone.
 */
export function ask<T>(slot: string, args: string[], options: Partial<Question> & { aside?: boolean } = {}): Promise<Answer<T>> {
  const { aside = false, ...rest } = options;
  const question: Question = { args, files: [], only: null, as: "json", ...rest };
  return new Promise<Answer<T>>((resolve, reject) => (aside ? second : first).ask({ question, slot, resolve: resolve as Waiting["resolve"], reject }));
}

/** Stops everything. */
export function cancel() {
  for (const thread of [first, second]) thread.cancel();
  tell();
}
