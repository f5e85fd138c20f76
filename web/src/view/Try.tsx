import { useState } from "preact/hooks";
import type { Node } from "../model/graph";
import type { Finding, Pick, RouteReport, Trace } from "../model/report";
import { changes, checked, graph, rpc, samples, send, showFinding, tried, way, type Rpc } from "../state";
import { saveSuite } from "../share";
import { Place } from "./Place";
import { PLAIN } from "./words";

const MOST_STEPS = 200;

export function Try() {
  const form = rpc.value;
  const set = (next: Partial<Rpc>) => { rpc.value = { ...form, ...next }; };
  const changed = Object.entries(changes.value).filter(([, change]) => Object.values(change).some((value) => value));
  return (
    <>
      <form class="try" onSubmit={(event) => { event.preventDefault(); void send(); }}>
        <label>Method <input value={form.method} list="methods" spellcheck={false} onInput={(event) => set({ method: event.currentTarget.value })} />
          <datalist id="methods">{samples.value.map((method) => <option key={method} value={method} />)}</datalist></label>
        <label>Headers, one a line <textarea rows={2} value={form.headers} placeholder="tier: gold" spellcheck={false} onInput={(event) => set({ headers: event.currentTarget.value })} /></label>
        <div class="row">
          <label>Session of <select value={form.session} onChange={(event) => set({ session: event.currentTarget.value })}>
            <option value="">nobody</option>{sessions(form.session).map((address) => <option key={address}>{address}</option>)}
          </select></label>
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

const MOST_SESSIONS = 500;

/** Endpoints that a session can be of; also one that has gone since. */
const sessions = (own: string) => [...new Set([...(graph.value?.addresses ?? []).slice(0, MOST_SESSIONS), ...(own === "" ? [] : [own])])];

/** What became of all RPCs. */
function headline(picks: Pick[]): string {
  if (picks.length < 2) return say(picks[0]);
  const failed = picks.filter((one) => one.code !== "OK");
  if (failed.length === 0) return `All ${picks.length} RPCs are OK`;
  const why = [...new Set(failed.map((one) => `${one.code}${one.details === "" ? "" : `: ${one.details}`}`))];
  return `${failed.length} of ${picks.length} RPCs fail: ${why.slice(0, 3).join("; ")}${why.length > 3 ? "; and others" : ""}`;
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
      {pick !== null && first !== undefined && <p class={`result ${pick.picks.every((one) => one.code === "OK") ? "good" : "bad"}`} role="status"><b>{headline(pick.picks)}</b></p>}
      <Shares />
      {route !== null && <Taken route={route} trace={first?.trace ?? []} />}
      <OnTheWay />
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

/** Routes behind the one that takes the RPC, which takes all of theirs. */
function behind(own: Node | undefined): { node: Node; why: string }[] {
  if (own === undefined) return [];
  const host = own.path.slice(0, own.path.lastIndexOf(".routes["));
  const isBehind = (node: Node | undefined, why: Finding | undefined) => node?.kind === "route" && node.world === own.world && node.name === own.name && node.path.startsWith(`${host}.routes[`)
    && why?.rule === "rds-route-unreachable" && why.related?.some((place) => place.path.startsWith(`${own.path}.`));
  const found: { node: Node; why: string }[] = [];
  for (const node of graph.value?.nodes.values() ?? []) {
    const why = node.findings.map((index) => checked.value?.findings[index]).find((finding) => isBehind(node, finding));
    if (why !== undefined) found.push({ node, why: why.message });
    if (found.length >= MOST_BEHIND) break;
  }
  return found;
}

const MOST_BEHIND = 5;

const OF_ROUTE = ["session", "timeout", "retries"];

/** The route that takes the RPC, and what the configuration says of session, timeout and retries there: also that there are none. */
function Taken({ route, trace }: { route: RouteReport; trace: Trace[] }) {
  const lit = [...way.value].map((id) => graph.value?.nodes.get(id));
  const of = (kind: Node["kind"]) => lit.find((node) => node?.kind === kind);
  const { route: taken } = route;
  const own = of("route");
  const rows = (taken?.details ?? []).filter(({ layer }) => OF_ROUTE.includes(layer));
  const told = trace.filter(({ layer }) => layer === SESSION);
  // `route` is asked about an RPC without a session, and follows one draw among weights.
  const brought = ({ layer, what }: Trace) => ({ layer, what: rpc.value.session === "" || what.startsWith("none") ? what : `each RPC brings the session of ${rpc.value.session}` });
  const session = told.length > 0 ? told : rows.filter(({ layer }) => layer === "session").map(brought);
  const filter = taken?.filters.find(({ kind }) => kind === "stateful_session");
  const where = (): [Node | undefined, string] => {
    const named = (node: Node | undefined, base = "") => [node, `${node?.path ?? ""}${base}.typed_per_filter_config`] as [Node | undefined, string];
    switch (filter?.config_from) {
      case "virtual host": return named(of("virtual_host"));
      case "route": return named(own);
      case "cluster weight": return named(own, ".route.weighted_clusters");
      default: return [of("listener"), `${MANAGER}.http_filters[${taken?.filters.indexOf(filter!) ?? 0}].typed_config.session_state.typed_config.cookie.path`];
    }
  };
  const [node, path] = where();
  const fields: Record<string, string> = { timeout: ".route.max_stream_duration", retries: ".route.retry_policy" };
  return (
    <section aria-label="Routes">
      {route.tried.map((one) => <p key={one.index} class="no">routes[{one.index}] {one.name}: no, {one.why}</p>)}
      {taken === null ? route.error !== null && <p>{route.error.code}: {route.error.message}</p> : (
        <>
          <p>routes[{taken.index}] {taken.name} {rpc.value.count > 1 ? "takes them" : `takes it to ${taken.selected_key}`} <Place node={own} path={own?.path ?? ""} /></p>
          {behind(own).map(({ node, why }) => (
            <p key={node.id} class="no">{node.path.slice(node.path.lastIndexOf(".") + 1)} {node.label}: {why} <Place node={node} path={node.path} /></p>
          ))}
          <table class="ways"><tbody>
            {(session.length > 0 ? session : [{ layer: SESSION, what: "none: the listener has no session filter" }]).map(({ what }, index) => (
              <tr key={index} class={what.startsWith("none: the path") ? "misses" : ""}><th scope="row">{SESSION}</th><td>{what} {filter !== undefined && <Place node={node} path={path} />}</td></tr>
            ))}
            {rows.filter(({ layer }) => layer !== "session").map(({ layer, what }) => (
              <tr key={layer}><th scope="row">{layer}</th><td>{what} {own !== undefined && <Place node={own} path={`${own.path}${fields[layer] ?? ""}`} />}</td></tr>
            ))}
          </tbody></table>
        </>
      )}
    </section>
  );
}

const MOST_FINDINGS = 10;

/** What was found at the boxes of the way, and at what the client left out below them. */
function OnTheWay() {
  const at = graph.value;
  const lit = [...way.value].map((id) => at?.nodes.get(id)).filter((node) => node !== undefined);
  const left = lit.flatMap((node) => node.edges.map((edge) => at?.nodes.get(edge.to))).filter((node) => node?.state === "left");
  const found = [...new Set([...lit, ...left].flatMap((node) => node!.findings))].map((index) => checked.value?.findings[index]).filter((finding) => finding !== undefined);
  if (found.length === 0) return null;
  return (
    <section aria-label="Findings on its way">
      {found.slice(0, MOST_FINDINGS).map((finding, index) => (
        <p key={index} class={finding.severity}><b>{finding.severity}</b> {finding.message} {finding.file !== null && finding.line !== null && (
          <button class="quiet at" onClick={() => showFinding(finding)}>{finding.file.split("/").at(-1)}:{finding.line}</button>
        )}</p>
      ))}
    </section>
  );
}

const SESSION = "stateful session";
const MANAGER = "api_listener.api_listener";

/** What each layer did in the end; waiting for connections is folded. */
function Steps({ trace: told }: { trace: Trace[] }) {
  const trace = told.filter(({ layer }) => layer !== SESSION);
  const last = trace.map((step) => step.layer).lastIndexOf("pick");
  const before = trace.findIndex((step) => step.layer === "pick");
  const [all, setAll] = useState(false);
  const shown = all || before < 0 ? trace : [...trace.slice(0, before), ...trace.slice(last)];
  return (
    <section aria-label="Layers">
      <table class="ways"><tbody>{shown.slice(0, MOST_STEPS).map((step, index) => (
        <tr key={index}><th scope="row">{PLAIN[step.layer] ?? step.layer}{PLAIN[step.layer] !== undefined && <small> {step.layer}</small>}</th><td>{step.what}</td></tr>
      ))}</tbody></table>
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
        <tr key={share.label} class={graph.value?.addresses.includes(share.label) ? "" : "fails"}>
          <th scope="row">{share.label}</th><td>{share.count}</td>
          <td><svg class="bar" width="100" height="14" aria-hidden="true"><rect width={100 * share.simulated} height="6" />{share.expected !== null && <rect class="expected" y="8" width={100 * share.expected} height="6" />}</svg> {percent(share.simulated)}</td>
          <td>{share.expected === null ? "" : percent(share.expected)}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;
