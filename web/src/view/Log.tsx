import { useState } from "preact/hooks";
import { ask } from "../engine/engine";
import type { Finding, Report } from "../model/report";
import { configs, page, part, showFinding, who } from "../state";

interface Told { type: string | null; name: string | null; path: string | null; words: string; pages: { id: string; summary: string; effect: string | null }[] }

/** A line of a client's log: which rule it is about, and where. */
export function Log() {
  const [line, setLine] = useState("");
  const [told, setTold] = useState<Told[] | null>(null);
  const [places, setPlaces] = useState<Finding[]>([]);
  const [why, setWhy] = useState("");
  const look = async () => {
    const text = line.trim();
    if (text === "") return;
    setWhy("");
    try {
      const { value, err, trap } = await ask<{ told: Told[] }>("told", ["explain", "--format", "json", "--", text]);
      setTold(value?.told ?? null);
      if (value?.told === undefined) setWhy(trap ?? (err.trim() || "This is no line that xdsctl knows."));
      const names = configs.value.map((doc) => doc.name);
      const at = await ask<Report>("place", ["validate", "--no-config", "--format", "json", ...who(), `--explain-error=${text}`, ...names]);
      const all = at.value === null ? [] : [...at.value.resources.flatMap((resource) => resource.findings), ...at.value.findings];
      setPlaces(all);
      if (all[0] !== undefined) showFinding(all[0]);
      const rule = all[0]?.rule ?? value?.told?.[0]?.pages[0]?.id;
      if (rule !== undefined) page.value = rule;
    } catch { /* a newer question took its place */ }
  };
  return (
    <form class="log" onSubmit={(event) => { event.preventDefault(); void look(); }}>
      <label>Line of a log, or the error of an RPC
        <textarea rows={4} value={line} spellcheck={false} placeholder="field:lb_policy error:LB policy is not supported" onInput={(event) => setLine(event.currentTarget.value)} /></label>
      <button class="main">What is it about?</button>
      {why !== "" && <p role="status">{why}</p>}
      {told?.map((one, index) => (
        <section key={index}>
          <p>{one.words}</p>
          {one.pages.length === 0 && <p class="hint">No rule has these words.</p>}
          {one.pages.map((rule) => <p key={rule.id}><button onClick={() => { page.value = rule.id; part.value = "files"; }}>{rule.id}</button> {rule.summary}</p>)}
        </section>
      ))}
      {places.map((finding, index) => <p key={index}><button onClick={() => { showFinding(finding); part.value = "files"; }}>{finding.file}:{finding.line}</button> {finding.type} {finding.name} {finding.path}: {finding.message}</p>)}
      {told !== null && places.length === 0 && <p class="hint">It is about no place in the files that are open.</p>}
    </form>
  );
}
