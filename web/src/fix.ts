// A fix that the command is certain of, made in the text of the editor.
import { ask } from "./engine/engine";
import type { Finding } from "./model/report";
import { docs, edit, who } from "./state";

/** The hunks of a patch of one file: the first line that each replaces, how many, and the new lines. */
function hunks(patch: string): { from: number; count: number; lines: string[] }[] {
  const found: { from: number; count: number; lines: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    const last = found.at(-1);
    if (head !== null) found.push({ from: Number(head[1]), count: Number(head[2] ?? 1), lines: [] });
    else if (last !== undefined && (line.startsWith("+") || line.startsWith(" "))) last.lines.push(line.slice(1));
  }
  return found;
}

/** Makes the fix of a finding: the part of the patch that is about its line. */
export async function applyFix(finding: Finding) {
  const doc = docs.value.find((one) => one.name === finding.file);
  if (doc?.text == null || finding.line === null) return;
  const args = ["validate", "--no-config", ...who(), "--fix", "--diff", "--show-secrets", doc.name];
  const { out } = await ask("fix", args, { as: "text", only: [doc.name] });
  const hunk = hunks(out).find(({ from, count }) => finding.line! >= from && finding.line! < from + Math.max(count, 1));
  if (hunk === undefined) return;
  const lines = doc.text.split("\n");
  lines.splice(hunk.from - 1, hunk.count, ...hunk.lines);
  edit(doc.name, lines.join("\n"));
}
