import { applyFix } from "../fix";
import { check, checked, docs, graph, isQuiet, page, reveal, show, showFinding, showsNotes } from "../state";
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
            {finding.help && <p class="help"><b>Help:</b> {finding.help}</p>}
            {finding.related?.map((one) => (
              <p key={one.path} class="help">See <Line file={one.file} line={one.line} />: {one.message}</p>
            ))}
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
