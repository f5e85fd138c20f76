import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ask } from "../engine/engine";
import { page } from "../state";

/** Markdown as the pages of rules have it, into elements: text stays text, whatever is in it. */
export function Markdown({ text }: { text: string }) {
  const blocks: ComponentChildren[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.startsWith("```")) {
      const code: string[] = [];
      for (at += 1; at < lines.length && !lines[at]!.startsWith("```"); at += 1) code.push(lines[at]!);
      blocks.push(<pre tabIndex={0}>{code.join("\n")}</pre>);
    } else if (/^#+ /.test(line)) {
      blocks.push(<h3>{line.replace(/^#+ /, "")}</h3>);
    } else if (/^[-*] /.test(line)) {
      const items: string[] = [];
      for (; at < lines.length && /^([-*] |\s+\S)/.test(lines[at]!); at += 1) {
        if (/^[-*] /.test(lines[at]!)) items.push(lines[at]!.slice(2));
        else items.push(`${items.pop() ?? ""} ${lines[at]!.trim()}`);
      }
      at -= 1;
      blocks.push(<ul>{items.map((item) => <li><Inline text={item} /></li>)}</ul>);
    } else if (line.trim() !== "") {
      const words = [line];
      while (at + 1 < lines.length && lines[at + 1]!.trim() !== "" && !/^(#|```|[-*] )/.test(lines[at + 1]!)) words.push(lines[(at += 1)]!);
      blocks.push(<p><Inline text={words.join(" ")} /></p>);
    }
  }
  return <>{blocks}</>;
}

const Inline = ({ text }: { text: string }) => (
  <>{text.split(/(`[^`]*`|\*\*[^*]*\*\*)/).map((piece) =>
    piece.startsWith("`") ? <code>{piece.slice(1, -1)}</code> : piece.startsWith("**") ? <b>{piece.slice(2, -2)}</b> : piece.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"))}</>
);

interface Rule { id: string; summary: string; page: string; effect?: string; source?: string; clients?: { client: string; verdict?: string; effect?: string }[] }

/** The page of a rule or a symptom. */
export function Page() {
  const [rule, setRule] = useState<Rule | null>(null);
  const id = page.value;
  useEffect(() => {
    setRule(null);
    ask<{ rules?: Rule[]; symptoms?: Rule[] }>("explain", ["explain", "--format", "json", "--", id]).then(
      ({ value }) => setRule(value?.rules?.[0] ?? value?.symptoms?.[0] ?? null),
      () => {},
    );
  }, [id]);
  return (
    <article class="page" aria-label={`Rule ${id}`} tabIndex={0}>
      <button onClick={() => { page.value = ""; }}>← Findings</button>
      <h2>{id}</h2>
      {rule === null ? <p class="hint">…</p> : <><p>{rule.summary}</p><Markdown text={rule.page} /></>}
    </article>
  );
}
