import { applyFix } from "../fix";
import { plainly } from "../model/plain";
import { check, checked, docs, graph, isQuiet, judgesProxies, page, reveal, show, showFinding, showsNotes } from "../state";
import type { Node } from "../model/graph";
import type { Finding } from "../model/report";
import { Place } from "./Place";

const MOST = 100;

/** The rule of a dump of which nothing is checked. */
const MADE_FOR_PROXY = "dump-made-for-proxy";

/** The node of the picture that a finding is at. */
function nodeOf(index: number): string | undefined {
  for (const node of graph.value?.nodes.values() ?? []) if (node.findings.includes(index)) return node.id;
  return undefined;
}

export function go(finding: Finding, index: number) {
  const id = nodeOf(index);
  if (id !== undefined) reveal(id, false);
  showFinding(finding);
}

const MOST_CAUSES = 5;

/** Where what a finding suffers from is written, if that is elsewhere: the domains of a RouteConfiguration, the path of a listener's cookie. */
function causes(finding: Finding, index: number): { node: Node; path: string; what: string }[] {
  const at = graph.value;
  const own = at?.nodes.get(nodeOf(index) ?? "");
  if (at === null || own === undefined) return [];
  const hosts = own.edges.map((edge) => at.nodes.get(edge.to)).filter((node) => node?.kind === "virtual_host");
  switch (finding.rule) {
    case "lds-no-virtual-host":
      return hosts.slice(0, MOST_CAUSES).map((node) => ({ node: node!, path: `${node!.path}.domains`, what: `the domains of ${node!.label}` }));
    case "stateful-session-path-misses-route": {
      if (own.kind === "listener") return [];
      const listeners = [...at.nodes.values()].filter((node) => node.type === "Listener" && node.kind === "listener" && node.world === own.world && leads(node, own.name));
      return listeners.slice(0, MOST_CAUSES).map((node) => ({ node, path: "api_listener.api_listener.http_filters", what: `the session filter of ${node.label}` }));
    }
    default:
      return [];
  }
}

const leads = (listener: Node, routes: string) => listener.name === routes || listener.edges.some((edge) => graph.value?.nodes.get(edge.to)?.name === routes);

/** A link to the beginning of a line. */
function Line({ file, line }: { file: string | null; line: number | null }) {
  if (file === null || line === null) return null;
  const go = () => {
    const bytes = docs.value.find((doc) => doc.name === file)?.bytes;
    let from = 0;
    for (let left = line; bytes !== undefined && left > 1; left -= 1) from = bytes.indexOf(0x0a, from) + 1;
    show(file, from, Math.max(from, bytes?.indexOf(0x0a, from) ?? 0), true);
  };
  return <button class="quiet at" onClick={go}>{file.split("/").at(-1)}:{line}</button>;
}

export function Findings() {
  const all = checked.value?.findings ?? [];
  if (checked.value === null) return <p class="hint">Not checked yet.</p>;
  const { error = 0, warning = 0, note = 0 } = checked.value.severities;
  const hidden = isQuiet.value ? note : 0;
  const more = error + warning + note - hidden - Math.min(all.length, MOST);
  return (
    <div class="findings">
      {all.length === 0 && <p class="hint">No findings: {checked.value.resources} resources are accepted as they are.</p>}
      <ol aria-label="Findings">
        {all.slice(0, MOST).map((finding, index) => (
          <li key={index} class={finding.severity}>
            <button class="place" onClick={() => go(finding, index)}>
              <b>{finding.severity}</b> <span class="what">{finding.type ? `${finding.type} ${finding.name}: ` : ""}{finding.message}</span>
              <small>{finding.file}{finding.line === null ? "" : `:${finding.line}`} {finding.path}</small>
            </button>
            {finding.help && <p class="help"><b>Help:</b> {plainly(finding.help)}</p>}
            {finding.related?.map((one) => (
              <p key={one.path} class="help">See <Line file={one.file} line={one.line} />: {one.message}</p>
            ))}
            {causes(finding, index).map(({ node, path, what }) => <p key={node.id} class="help">See <Place node={node} path={path} />: {what}</p>)}
            <span class="acts">
              <button class="quiet" onClick={() => { page.value = finding.rule; }}>{finding.rule}</button>
              {finding.rule === MADE_FOR_PROXY && !judgesProxies.value && <button onClick={() => { judgesProxies.value = true; void check(); }}>Check it anyway</button>}
              {finding.fixable && <button onClick={() => void applyFix(finding)}>Fix</button>}
            </span>
          </li>
        ))}
      </ol>
      {more > 0 && <p class="hint">{more} more.</p>}
      {hidden > 0 && <p class="hint">{hidden} notes are not listed. <button onClick={() => { showsNotes.value = true; void check(); }}>List them</button></p>}
      {checked.value.notChecked.map((what) => <p key={what} class="hint">Not checked: {what}</p>)}
    </div>
  );
}
