import { useEffect, useState } from "preact/hooks";
import { ask } from "../engine/engine";
import type { Checked } from "../engine/worker";
import { type Graph, VALIDATE } from "../model/graph";
import { unpack } from "../model/packed";
import { compared, configs, diffed, graph, reveal, rpc, send, shown, panel, who } from "../state";

interface Goes { cluster: string | null; plugin: string | null; share: number }
interface Side { route: number | null; goes: Goes[] }
interface World {
  world: string; presence: string;
  resources: { type: string; name: string; before: { state: string; why: string | null }; after: { state: string; why: string | null }; fields: { path: string; kind: string; before: unknown; after: unknown }[] }[];
  routes: { listeners: string[]; virtual_hosts: { domains: string[]; after: string | null; before: string | null; moves: { example: { method: string; headers: [string, string][] } | null; before: Side; after: Side }[] }[] }[];
  clusters: { name: string; localities: { priority: number; locality: string; before: number; after: number }[]; lost_sessions: string[]; drained: string[]; ring_moves: number | null }[];
  reach: { name: string; works: boolean }[]; rpcs_not_known: string | null;
}
interface Diff { worlds: World[]; rpcs: { elsewhere: string[]; unchanged: string[]; not_known: string[] } }

const MOST_FAILING = 10;
const OPENED = "(as it was opened)";
const MOST = 200;

/** What is wrong with Clusters as they are after the change, by their names. */
type Faults = Map<string, string>;

function faultsOf(after: Graph): Faults {
  const found: Faults = new Map();
  for (const { kind, name, state } of after.nodes.values()) {
    if (kind === "cluster" && (state === "missing" || state === "rejected")) found.set(name, state === "missing" ? "there is no such Cluster" : "it is rejected");
  }
  return found;
}

export function Compare() {
  const files = configs.value;
  const { before, after } = compared.value;
  const [diff, setDiff] = useState<Diff | null>(null);
  const [faults, setFaults] = useState<Faults>(new Map());
  const [why, setWhy] = useState("");
  const versions = files.map((doc) => doc.version).join();
  useEffect(() => () => { diffed.value = null; }, []);
  useEffect(() => {
    const one = files.find((doc) => doc.name === before);
    const other = files.filter((doc) => after === "" || doc.name === after);
    if (other.length === 0) return;
    const side = (name: string, list: [string, Uint8Array][]) => list.map(([file, bytes]): [string, Uint8Array] => [`${name}/${file}`, bytes]);
    const given = [
      ...side("before", one !== undefined ? [["config.yaml", one.bytes]] : other.map((doc) => [doc.name, doc.first])),
      ...side("after", one !== undefined ? [["config.yaml", (other.find((doc) => doc !== one) ?? one).bytes]] : other.map((doc) => [doc.name, doc.bytes])),
    ];
    ask<Diff>("diff", ["diff", "--no-config", "--merge", "--format", "json", ...who(), "before", "after"], { only: [], files: given }).then(({ value, err, trap }) => {
      setDiff(value);
      setWhy(value === null ? trap ?? err : "");
      diffed.value = value === null ? null : drawn(value);
    }, () => {});
    const held = given.filter(([name]) => name.startsWith("after/"));
    ask<Checked>("after", [...VALIDATE, "--show", "reached", ...who(), "after"], { only: [], files: held, as: "graph" }).then(({ value }) => setFaults(value?.graph ? faultsOf(unpack(value.graph)) : new Map()), () => {});
  }, [before, after, versions, shown.value]);
  return (
    <div class="compare">
      <div class="row">
        <label>Before <select value={before} onChange={(event) => { compared.value = { before: event.currentTarget.value, after }; }}><option value="">{OPENED}</option>{files.map((doc) => <option key={doc.name}>{doc.name}</option>)}</select></label>
        <label>After <select value={after} onChange={(event) => { compared.value = { before, after: event.currentTarget.value }; }}><option value="">what is open</option>{files.map((doc) => <option key={doc.name}>{doc.name}</option>)}</select></label>
      </div>
      {why !== "" && <pre class="told" tabIndex={0}>{why}</pre>}
      {diff !== null && <Said diff={diff} faults={faults} />}
    </div>
  );
}

/** Where RPCs go after a change that cannot take them there. */
const lost = (side: Side, faults: Faults) => side.goes.filter((one) => one.plugin === null && (one.cluster === null || faults.has(one.cluster)));
const lostShare = (side: Side, faults: Faults) => (side.goes.length === 0 ? 1 : lost(side, faults).reduce((sum, one) => sum + one.share, 0));
const why = (side: Side, faults: Faults) =>
  [...new Set(lost(side, faults).map((one) => (one.cluster === null ? "no route takes them" : `${one.cluster}: ${faults.get(one.cluster)}`)))].join("; ") || "no route takes them";
const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;
const goes = (side: Side) => side.goes.length === 0 ? "nowhere" : side.goes.map((one) => `${one.cluster ?? one.plugin ?? "fails"}${one.share < 1 ? ` ${Math.round(one.share * 1000) / 10}%` : ""}`).join(", ");
const short = (value: unknown) => { const text = JSON.stringify(value) ?? ""; return text.length > 60 ? `${text.slice(0, 59)}…` : text; };

function Said({ diff, faults }: { diff: Diff; faults: Faults }) {
  const { elsewhere, not_known: unknown } = diff.rpcs;
  const isSame = diff.worlds.every((one) => one.resources.length === 0 && one.routes.length === 0 && one.clusters.length === 0);
  const failing = diff.worlds.flatMap((one) => one.routes).flatMap((table) => table.virtual_hosts)
    .flatMap((host) => host.moves.map((move) => ({ move, what: move.example?.method ?? host.domains.join(", ") })))
    .filter(({ move }) => lostShare(move.after, faults) > lostShare(move.before, new Map()))
    .sort((one, other) => lostShare(other.move.after, faults) - lostShare(one.move.after, faults));
  return (
    <>
      {failing.slice(0, MOST_FAILING).map(({ move, what }, index) => (
        <p key={index} class="result bad" role="status"><b>{percent(lostShare(move.after, faults))} of the RPCs fail</b>, {what}: {why(move.after, faults)}</p>
      ))}
      <p class={`result ${elsewhere.length > 0 ? "bad" : "good"}`} role="status"><b>{elsewhere.length > 0 ? "RPCs go elsewhere" : unknown.length > 0 ? "It is not known where RPCs go" : isSame ? "Nothing changes" : "RPCs go where they went"}</b></p>
      {diff.worlds.map((one) => (
        <section key={one.world}>
          {one.world !== "" && <h3>{one.world} ({one.presence})</h3>}
          {one.routes.flatMap((table) => table.virtual_hosts).flatMap((host) => host.moves.map((move, index) => (
            <p key={`${host.domains.join()}${index}`}>
              {move.example === null ? host.domains.join(", ") : (
                <button onClick={() => { rpc.value = { ...rpc.value, method: move.example!.method, headers: move.example!.headers.map((pair) => pair.join(": ")).join("\n") }; panel.value = "try"; void send(); }}>
                  {move.example.method} {move.example.headers.map((pair) => pair.join(": ")).join(", ")}
                </button>
              )}: {goes(move.before)} → {goes(move.after)}
            </p>
          )))}
          {one.clusters.map((cluster) => (
            <p key={cluster.name}>
              <button class="quiet" onClick={() => { const node = find("Cluster", cluster.name); if (node) reveal(node); }}>{cluster.name}</button>
              {cluster.localities.map((at) => ` ${at.locality} ${Math.round(at.before * 100)}% → ${Math.round(at.after * 100)}%`).join(";")}
              {cluster.lost_sessions.length > 0 && ` sessions lost: ${cluster.lost_sessions.slice(0, 10).join(", ")}`}
              {cluster.drained.length > 0 && ` draining: ${cluster.drained.slice(0, 10).join(", ")}`}
            </p>
          ))}
          {one.resources.slice(0, MOST).map((resource) => (
            <details key={`${resource.type}/${resource.name}`}>
              <summary>{resource.type} {resource.name}: {resource.before.state === resource.after.state ? `${resource.fields.length} fields` : `${resource.before.state} → ${resource.after.state}${resource.after.why === null ? "" : `, ${resource.after.why}`}`}</summary>
              {resource.fields.slice(0, MOST).map((field) => <p key={field.path}><code>{field.path}</code> {field.kind}: {short(field.before)} → {short(field.after)}</p>)}
            </details>
          ))}
        </section>
      ))}
    </>
  );
}

function find(type: string, name: string) {
  for (const node of graph.value?.nodes.values() ?? []) if (node.type === type && node.name === name && (node.kind === "cluster" || node.kind === "listener")) return node.id;
  return undefined;
}

/** What the picture says at its boxes. */
function drawn(diff: Diff): Map<string, string> {
  const said = new Map<string, string>();
  const names = new Map<string, string>();
  for (const one of diff.worlds) {
    for (const resource of one.resources) {
      const { before, after } = resource;
      const word = before.state === "absent" ? "new" : after.state === "absent" ? "gone" : before.state === after.state ? "changed" : after.state;
      names.set(`${resource.type}/${resource.name}`, word);
      for (const field of resource.fields) {
        const path = /^(.*?routes\[\d+\])/.exec(field.path)?.[1];
        if (path !== undefined) names.set(`${resource.type}/${resource.name}/${path.replace(/virtual_hosts\[[^\]]*\]/, "")}`, field.kind);
        const endpoint = /lb_endpoints\[([^\]]+)\]/.exec(field.path)?.[1];
        if (endpoint !== undefined) names.set(`${resource.type}/${resource.name}/${endpoint}`, field.kind);
        const locality = /localities\[([^\]]+)\]\.load/.exec(field.path)?.[1];
        if (locality !== undefined) names.set(`${resource.type}/${resource.name}/${locality}`, field.kind);
      }
    }
  }
  for (const node of graph.value?.nodes.values() ?? []) {
    const base = `${node.type}/${node.name}`;
    const own = node.kind === "cluster" || node.kind === "listener" ? names.get(base)
      : node.kind === "route" ? names.get(`${base}/${node.path.replace(/^.*virtual_hosts\[\d+\]/, "")}`)
      : node.kind === "endpoint" ? names.get(`${base}/${node.address}`) : node.kind === "locality" ? names.get(`${base}/${node.label}`) : undefined;
    if (own !== undefined) said.set(node.id, own);
  }
  return said;
}
