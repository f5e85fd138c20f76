// The editor: the file that is chosen, with findings at their place.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { effect } from "@preact/signals";
import { tags } from "@lezer/highlight";
import { applyFix } from "../fix";
import type { Finding } from "../model/report";
import { type Doc, active, checked, docs, edit, goal, page } from "../state";

export interface EditorHandle { destroy(): void }

/** How much of a large file is shown around a place. */
const PART_BYTES = 200_000;

/** Letters that come together are one change. A question that waits gives way to a newer one, so there is no need to wait for long. */
const WAIT_MS = 8;

/** Long lines of files up to this size are wrapped. */
const WRAPPED_BYTES = 256 << 10;

const MOST_MARKS = 2000;

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
]);

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";

/** The places of bytes in a text, in one pass: the command counts bytes, the editor UTF-16 units. */
function places(text: string, size: number, wanted: number[]): Map<number, number> {
  const found = new Map<number, number>();
  if (size === text.length) {
    for (const place of wanted) found.set(place, place);
    return found;
  }
  let bytes = 0;
  let next = 0;
  const sorted = [...new Set(wanted)].sort((one, other) => one - other);
  for (let at = 0; at <= text.length && next < sorted.length; at += 1) {
    while (next < sorted.length && sorted[next]! <= bytes) found.set(sorted[next++]!, at);
    const code = text.charCodeAt(at);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code >= 0xd800 && code < 0xdc00 ? 4 : code >= 0xdc00 && code < 0xe000 ? 0 : 3;
  }
  return found;
}

export function mount(host: HTMLElement): EditorHandle {
  let doc: Doc | undefined;
  /** What of the file is shown begins at this byte. */
  let from = 0;
  let timer = 0;
  let marking = 0;
  let isGone = false;
  let own = "";
  const states = new Map<string, EditorState>();
  // The server puts the nonce there; as static files the page has none.
  const styled = nonce === "" || nonce.startsWith("%") ? [] : EditorView.cspNonce.of(nonce);
  const view = new EditorView({ parent: host, state: EditorState.create({ doc: "", extensions: [styled] }) });

  const write = () => {
    if (doc === undefined) return;
    own = view.state.doc.toString();
    edit(doc.name, own);
  };
  const extensions = (name: string, editable: boolean, wraps: boolean) => [
    styled,
    lineNumbers(), foldGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), highlightSelectionMatches(), lintGutter(),
    search({ top: true }), syntaxHighlighting(colours), /\.(ya?ml)$/.test(name) ? yaml() : /\.(json|jsonl|ndjson)$/.test(name) ? json() : [],
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
    wraps ? EditorView.lineWrapping : [],
    EditorState.readOnly.of(!editable), EditorView.editable.of(editable),
    EditorView.contentAttributes.of({ "aria-label": `Text of ${name}`, tabindex: "0" }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      clearTimeout(timer);
      timer = window.setTimeout(write, WAIT_MS);
    }),
  ];
  const part = (of: Doc, around: number) => {
    from = Math.max(0, Math.min(around, of.bytes.length) - PART_BYTES / 2);
    const bytes = of.bytes.subarray(from, from + PART_BYTES);
    return new TextDecoder().decode(bytes);
  };
  const open = (next: Doc, around: number) => {
    if (doc !== undefined && doc.text !== null) states.set(doc.name, view.state);
    doc = next;
    own = next.text ?? "";
    from = 0;
    const kept = states.get(next.name);
    if (next.text !== null && kept !== undefined && kept.doc.toString() === next.text) view.setState(kept);
    else view.setState(EditorState.create({ doc: next.text ?? part(next, around), extensions: extensions(next.name, next.text !== null, next.bytes.length <= WRAPPED_BYTES && !/.{5000}/.test(next.text ?? "")) }));
  };

  /** The text, and how many bytes it has. Of a text that is not being changed both are known. */
  const seen = (): { text: string; size: number } => {
    if (doc !== undefined && doc.text !== null && doc.text === own && own.length === view.state.doc.length) return { text: own, size: doc.bytes.length };
    const text = view.state.doc.toString();
    return { text, size: new TextEncoder().encode(text).length };
  };

  const mark = (findings: Finding[]) => {
    if (doc === undefined) return;
    const name = doc.name;
    const { text, size } = seen();
    const here = findings.filter((finding) => finding.file === name && finding.byte_start !== null && finding.byte_start >= from && finding.byte_start <= from + size);
    const marked = here.slice(0, MOST_MARKS);
    const at = places(text, size, marked.flatMap((finding) => [finding.byte_start! - from, (finding.byte_end ?? finding.byte_start!) - from]));
    const diagnostics = marked.map((finding): Diagnostic => {
      const begin = at.get(finding.byte_start! - from) ?? 0;
      const end = Math.min(at.get((finding.byte_end ?? 0) - from) ?? begin, view.state.doc.lineAt(begin).to);
      return {
        from: begin, to: Math.max(begin, end), severity: finding.severity === "note" ? "info" : finding.severity, source: finding.rule,
        message: finding.message + (finding.help ? `\nHelp: ${finding.help}` : ""),
        actions: [
          { name: "Rule", apply: () => { page.value = finding.rule; } },
          ...(finding.fixable ? [{ name: "Fix", apply: () => void applyFix(finding) }] : []),
        ],
      };
    });
    view.dispatch(setDiagnostics(view.state, diagnostics));
  };

  const stops = [
    effect(() => {
      const next = docs.value.find((one) => one.name === active.value);
      if (next === undefined) return;
      if (next.name !== doc?.name) open(next, 0);
      else if (next.text !== null && next.text !== own && next.text !== view.state.doc.toString()) {
        own = next.text;
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next.text } });
        clearTimeout(timer);
      }
      doc = next;
      for (const name of states.keys()) if (!docs.value.some((one) => one.name === name)) states.delete(name);
    }),
    effect(() => {
      const findings = checked.value?.findings ?? [];
      void active.value;
      // What is found is listed first: the marks come when that is seen.
      cancelAnimationFrame(marking);
      marking = requestAnimationFrame(() => setTimeout(() => { if (!isGone) mark(findings); }));
    }),
    effect(() => {
      const to = goal.value;
      const next = docs.value.find((one) => one.name === to?.file);
      if (to === null || next === undefined || to.nonce === done) return;
      done = to.nonce;
      if (next.name !== doc?.name) open(next, to.from);
      else if (next.text === null && (to.from < from || to.from > from + PART_BYTES - 1000)) open(next, to.from);
      const { text, size } = seen();
      const at = places(text, size, [to.from - from, to.to - from]);
      const begin = at.get(to.from - from) ?? 0;
      const end = Math.max(begin, Math.min(at.get(to.to - from) ?? begin, begin + 2000));
      view.dispatch({ selection: { anchor: begin, head: end }, effects: EditorView.scrollIntoView(begin, { y: "center" }) });
      mark(checked.value?.findings ?? []);
    }),
  ];
  return { destroy: () => { isGone = true; clearTimeout(timer); for (const stop of stops) stop(); view.destroy(); } };
}

let done = 0;
