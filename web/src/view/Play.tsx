import { useEffect, useMemo, useState } from "preact/hooks";
import { ask } from "../engine/engine";
import { docs, moment, shown, suites, who } from "../state";
import { saveSuite } from "../share";

interface Event { t_ms: number; layer: string; event: string; client: string; what: Record<string, unknown> }
interface TestRow { name: string; line: number; result: string; error: string | null; failures: { line: number; expected: string; happened: string; more: number }[] }

const MOST_EVENTS = 400_000;
const W = 560;
const LEFT = 110;
const LANE = 16;
const MOST_LANES = 24;
const BINS = 220;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function Play() {
  const [file, setFile] = useState("");
  const [tests, setTests] = useState<TestRow[]>([]);
  const [name, setName] = useState("");
  const [events, setEvents] = useState<Event[]>([]);
  const [why, setWhy] = useState("");
  const [time, setTime] = useState(0);
  const chosen = file || suites.value[0]?.name || "";
  const version = docs.value.find((doc) => doc.name === chosen)?.version;
  useEffect(() => () => { moment.value = null; }, []);
  useEffect(() => {
    if (chosen === "") return;
    setWhy("");
    ask<{ suites: { faults: { line: number; message: string }[]; tests: TestRow[] }[] }>("test", ["test", "--format", "json", ...who(), chosen]).then(({ value, err, trap }) => {
      const own = value?.suites[0];
      setTests(own?.tests ?? []);
      setName((old) => (own?.tests.some((test) => test.name === old) ? old : own?.tests[0]?.name ?? ""));
      setWhy(own?.faults.map((fault) => `line ${fault.line}: ${fault.message}`).join("\n") || (value === null ? trap ?? err : ""));
    }, () => {});
  }, [chosen, version, shown.value]);
  useEffect(() => {
    if (chosen === "" || tests.length === 0) return;
    const run = tests.length > 1 ? ["--run", `^${escaped(name)}$`] : [];
    ask("simulate", ["simulate", "--format", "jsonl", ...who(), ...run, chosen], { as: "text" }).then(({ out, err, code }) => {
      const lines = out.split("\n").slice(0, MOST_EVENTS).filter((line) => line !== "");
      const made = lines.map((line) => JSON.parse(line) as Event);
      setEvents(made);
      setTime(made.at(-1)?.t_ms ?? 0);
      if (code === 2) setWhy(err.trim());
    }, () => {});
  }, [chosen, name, tests]);
  const index = useMemo(() => digest(events), [events]);
  useEffect(() => { moment.value = events.length === 0 ? null : index.at(time); }, [index, time]);
  if (chosen === "") {
    return <p class="hint">Open a suite, or try something and play that: <button onClick={() => void saveSuite(true).then(setWhy)}>Play what was tried</button> {why}</p>;
  }
  const test = tests.find((one) => one.name === name);
  return (
    <div class="play">
      <div class="row">
        <label>Suite <select value={chosen} onChange={(event) => setFile(event.currentTarget.value)}>{suites.value.map((doc) => <option key={doc.name}>{doc.name}</option>)}</select></label>
        {tests.length > 1 && <label>Test <select value={name} onChange={(event) => setName(event.currentTarget.value)}>{tests.map((one) => <option key={one.name}>{one.name}</option>)}</select></label>}
      </div>
      {why !== "" && <pre class="told" tabIndex={0}>{why}</pre>}
      {test !== undefined && (
        <p class={`result ${test.result === "passed" ? "good" : "bad"}`} role="status"><b>{test.result}</b> {test.error ?? ""}
          {test.failures.map((failure) => <span key={failure.line}> line {failure.line}: expected {failure.expected}: {failure.happened}{failure.more > 0 ? `, and ${failure.more} more` : ""}</span>)}
        </p>
      )}
      {events.length > 0 && (
        <>
          <label class="scrub">Time {(time / 1000).toFixed(3)} s <input type="range" min={0} max={index.end} step={1} value={time} onInput={(event) => setTime(Number(event.currentTarget.value))} /></label>
          <Axis index={index} time={time} />
          <p class="legend" aria-label="Colours">
            {Object.entries(LEGEND).map(([name, words]) => <span key={name}><svg width="12" height="10" aria-hidden="true"><rect class={name} width="12" height="10" /></svg> {words}</span>)}
          </p>
          <ol class="events" aria-label="Events until then" tabIndex={0}>
            {index.until(time, 30).map((event, number) => <li key={number}><small>{(event.t_ms / 1000).toFixed(3)} s</small> <b>{event.layer.replaceAll("_", " ")}</b> {said(event)}</li>)}
          </ol>
        </>
      )}
    </div>
  );
}

/** What the colours of the axis stand for. */
const LEGEND: Record<string, string> = {
  ok: "RPCs that are OK", failed: "RPCs that fail", "span READY": "connected", "span CONNECTING": "connecting", "span TRANSIENT_FAILURE": "cannot connect", "span IDLE": "not connected",
};

/** An event in words: what happened, and with what. */
function said({ event, what }: Event): string {
  const parts = Object.entries(what).filter(([, value]) => value !== null && value !== "").map(([key, value]) => `${key.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
  return [event.replaceAll("_", " "), parts.join(", ")].filter((part) => part !== "").join(": ");
}

interface Digest {
  end: number; addresses: string[]; spans: Map<string, { from: number; to: number; state: string }[]>; ok: number[]; failed: number[];
  steps: Event[]; priorities: Event[]; at(time: number): { states: Map<string, string>; counts: Map<string, number> }; until(time: number, most: number): Event[];
}

/** State of a connection by what happened to it. */
const STATES: Record<string, string> = { made: "IDLE", let_go: "" };

function digest(events: Event[]): Digest {
  const end = events.at(-1)?.t_ms ?? 0;
  const spans: Digest["spans"] = new Map();
  const ok = new Array<number>(BINS).fill(0);
  const failed = new Array<number>(BINS).fill(0);
  for (const event of events) {
    const address = event.what.address;
    if (event.layer === "connection" && typeof address === "string") {
      const state = typeof event.what.state === "string" ? event.what.state : STATES[event.event];
      if (state !== undefined) {
        const own = spans.get(address) ?? [];
        const last = own.at(-1);
        if (last !== undefined) last.to = event.t_ms;
        own.push({ from: event.t_ms, to: end, state });
        spans.set(address, own);
      }
    }
    if (event.layer === "rpc" && event.event === "end") {
      const bin = Math.min(BINS - 1, Math.floor((event.t_ms / Math.max(1, end)) * BINS));
      const bins = event.what.code === "OK" ? ok : failed;
      bins[bin]! += 1;
    }
  }
  const before = (time: number) => {
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (events[middle]!.t_ms <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    end, addresses: [...spans.keys()], spans, ok, failed,
    steps: events.filter((event) => event.layer === "step"), priorities: events.filter((event) => event.layer === "priority" && event.event === "select"),
    at(time) {
      const states = new Map<string, string>();
      for (const [address, list] of spans) {
        const at = list.findLast((span) => span.from <= time);
        if (at !== undefined && at.state !== "") states.set(address, at.state);
      }
      const counts = new Map<string, number>();
      const upTo = before(time);
      for (let at = 0; at < upTo; at += 1) {
        const { layer, event, what } = events[at]!;
        if (layer === "rpc" && event === "end" && typeof what.backend === "string") counts.set(what.backend, (counts.get(what.backend) ?? 0) + 1);
      }
      return { states, counts };
    },
    until: (time, most) => events.slice(Math.max(0, before(time) - most), before(time)),
  };
}

function Axis({ index, time }: { index: Digest; time: number }) {
  const x = (t: number) => LEFT + (t / Math.max(1, index.end)) * (W - LEFT - 4);
  const lanes = index.addresses.slice(0, MOST_LANES);
  const most = Math.max(1, ...index.ok.map((count, bin) => count + index.failed[bin]!));
  const base = 3 * LANE + 30;
  const height = base + lanes.length * LANE + 6;
  const width = (W - LEFT - 4) / BINS;
  return (
    <svg class="axis" viewBox={`0 0 ${W} ${height}`} role="img" aria-label={`Steps, priorities, RPCs and connections over ${(index.end / 1000).toFixed(1)} seconds`}>
      <text x={0} y={12}>steps</text>
      {[0, 0.25, 0.5, 0.75].map((share) => <path key={share} class="tick" d={`M${x(share * index.end)} 0 V${height}`}><title>{`${((share * index.end) / 1000).toFixed(2)} s`}</title></path>)}
      {index.steps.map((step, number) => <path key={number} class="step" d={`M${x(step.t_ms)} 2 V14`}><title>{`${step.t_ms / 1000} s ${JSON.stringify(step.what)}`}</title></path>)}
      <text x={0} y={12 + LANE}>priority</text>
      {index.priorities.slice(0, 2000).map((event, number) => <text key={number} class="priority" x={x(event.t_ms)} y={12 + LANE}>{String(event.what.priority ?? "")}</text>)}
      <text x={0} y={36 + LANE}>RPCs</text>
      {index.ok.map((count, bin) => {
        const failed = index.failed[bin]!;
        const all = ((count + failed) / most) * 40;
        const bad = (failed / most) * 40;
        return (
          <g key={bin}>
            {count > 0 && <rect class="ok" x={LEFT + bin * width} y={22 + LANE + 40 - all} width={width} height={all - bad} />}
            {failed > 0 && <rect class="failed" x={LEFT + bin * width} y={22 + LANE + 40 - bad} width={width} height={Math.max(2, bad)} />}
          </g>
        );
      })}
      {lanes.map((address, lane) => (
        <g key={address} transform={`translate(0 ${base + lane * LANE})`}>
          <text x={0} y={11}>{address}</text>
          {index.spans.get(address)!.filter((span) => span.state !== "").map((span, number) => <rect key={number} class={`span ${span.state}`} x={x(span.from)} y={2} width={Math.max(1, x(span.to) - x(span.from))} height={10}><title>{span.state}</title></rect>)}
        </g>
      ))}
      <path class="now" d={`M${x(time)} 0 V${height}`} />
    </svg>
  );
}
