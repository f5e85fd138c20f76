import { applyFix } from "../fix";
import { check, checked, graph, isQuiet, page, reveal, showFinding, showsNotes } from "../state";
import type { Finding } from "../model/report";

const MOST = 100;

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
            <span class="acts">
              <button class="quiet" onClick={() => { page.value = finding.rule; }}>{finding.rule}</button>
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
