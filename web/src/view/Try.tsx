import { useState } from "preact/hooks";
import type { Pick, Trace } from "../model/report";
import { changes, rpc, send, tried, type Rpc } from "../state";
import { saveSuite } from "../share";

const MOST_STEPS = 200;

export function Try() {
  const form = rpc.value;
  const set = (next: Partial<Rpc>) => { rpc.value = { ...form, ...next }; };
  const changed = Object.entries(changes.value).filter(([, change]) => Object.values(change).some((value) => value));
  return (
    <>
      <form class="try" onSubmit={(event) => { event.preventDefault(); void send(); }}>
        <label>Method <input value={form.method} spellcheck={false} onInput={(event) => set({ method: event.currentTarget.value })} /></label>
        <label>Headers, one a line <textarea rows={2} value={form.headers} placeholder="tier: gold" spellcheck={false} onInput={(event) => set({ headers: event.currentTarget.value })} /></label>
        <div class="row">
          <label>Session of <input value={form.session} size={15} placeholder="10.0.0.1:8080" onInput={(event) => set({ session: event.currentTarget.value.trim() })} /></label>
          <label>Count <input type="number" min={1} max={100000} value={form.count} onInput={(event) => set({ count: Math.max(1, Number(event.currentTarget.value) || 1) })} /></label>
          <label>Seed <input type="number" min={0} value={form.seed} onInput={(event) => set({ seed: Math.max(0, Math.floor(Number(event.currentTarget.value)) || 0) })} /></label>
          <button class="main">Send</button>
        </div>
      </form>
      {changed.length > 0 && (
        <p class="row">What if: {changed.map(([address, change]) => `${address} ${Object.entries(change).filter(([, value]) => value).map(([name, value]) => (value === true ? name : value)).join(", ")}`).join("; ")}
          <button onClick={() => { changes.value = {}; void send(); }}>As it is</button></p>
      )}
      <Outcome />
    </>
  );
}

function Outcome() {
  const answer = tried.value;
  const [saved, setSaved] = useState("");
  if (answer === null) return <p class="hint">Send an RPC: its way lights up in the picture, and each layer says why.</p>;
  const { pick, several, route, err, command } = answer;
  const first = pick?.picks[0];
  return (
    <div class="outcome">
      {err !== "" && <pre class="told" tabIndex={0} aria-label="Remarks">{err}</pre>}
      {several !== null && (
        <section aria-label="Clients">
          {several.answers.map(({ client, error, answer: own, fails }) => (
            <p key={client}><b>{client}</b> {error ?? say(own?.picks[0])} {fails ? "✖" : "✔"}</p>
          ))}
          {several.partings.map((parting) => <p key={parting.layer}>They part at {parting.layer}: {parting.what.map((what, index) => `${parting.clients[index]?.join(", ")}: ${what}`).join(" — ")}</p>)}
        </section>
      )}
      {first !== undefined && <p class={`result ${first.code === "OK" ? "good" : "bad"}`} role="status"><b>{say(first)}</b></p>}
      <Shares />
      {route !== null && (
        <section aria-label="Routes">
          {route.tried.map((one) => <p key={one.index} class="no">routes[{one.index}] {one.name}: no, {one.why}</p>)}
          {route.route !== null ? <p>routes[{route.route.index}] {route.route.name} takes it to {route.route.selected_key}</p> : route.error !== null && <p>{route.error.code}: {route.error.message}</p>}
        </section>
      )}
      {first !== undefined && first.trace.length > 0 && <Steps trace={first.trace} />}
      <p class="row">
        <button onClick={() => void saveSuite().then(setSaved)}>Save as a suite</button>
        {saved !== "" && <small role="status">{saved}</small>}
      </p>
      <p class="command"><code>{command}</code></p>
    </div>
  );
}

const say = (pick: Pick | undefined) => pick === undefined ? "no answer"
  : `${pick.code}${pick.backend === null ? "" : ` from ${pick.backend}`}${pick.details === "" ? "" : `: ${pick.details}`}${pick.ended_ms > pick.began_ms ? ` (${pick.ended_ms - pick.began_ms} ms)` : ""}`;

/** What each layer did in the end; waiting for connections is folded. */
function Steps({ trace }: { trace: Trace[] }) {
  const last = trace.map((step) => step.layer).lastIndexOf("pick");
  const before = trace.findIndex((step) => step.layer === "pick");
  const [all, setAll] = useState(false);
  const shown = all || before < 0 ? trace : [...trace.slice(0, before), ...trace.slice(last)];
  return (
    <section aria-label="Layers">
      <table><tbody>{shown.slice(0, MOST_STEPS).map((step, index) => <tr key={index}><th scope="row">{step.layer}</th><td>{step.what}</td></tr>)}</tbody></table>
      {before >= 0 && last > before && <button class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{all ? "Only the last pick" : `With ${last - before} steps before`}</button>}
    </section>
  );
}

interface Share { label: string; simulated: number; expected: number | null; count: number }

function Shares() {
  const pick = tried.value?.pick;
  let shares: Share[] = pick?.shares ?? [];
  if (shares.length === 0 && (pick?.picks.length ?? 0) > 1) {
    const counts = new Map<string, number>();
    for (const one of pick!.picks) {
      const label = one.backend !== null && one.code === "OK" ? one.backend : `${one.code}: ${one.details}`;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    shares = [...counts].map(([label, count]) => ({ label, count, simulated: count / pick!.picks.length, expected: null }));
  }
  if (shares.length === 0) return null;
  return (
    <table class="shares" aria-label="Shares">
      <thead><tr><th>Goes to</th><th>RPCs</th><th>Share</th><th>Expected</th></tr></thead>
      <tbody>{shares.slice(0, MOST_STEPS).map((share) => (
        <tr key={share.label}>
          <th scope="row">{share.label}</th><td>{share.count}</td>
          <td><svg class="bar" width="100" height="14" aria-hidden="true"><rect width={100 * share.simulated} height="6" />{share.expected !== null && <rect class="expected" y="8" width={100 * share.expected} height="6" />}</svg> {percent(share.simulated)}</td>
          <td>{share.expected === null ? "" : percent(share.expected)}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;
