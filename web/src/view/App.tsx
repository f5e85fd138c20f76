import { useEffect, useState } from "preact/hooks";
import { cancel, status } from "../engine/engine";
import { checked, choose, clients, docs, graph, isLarge, matrix, page, panel, part, shown, target, took, trouble, world, check } from "../state";
import { serverSays } from "../served";
import { Admit } from "./Admit";
import { Compare } from "./Compare";
import { Files, dropped } from "./Files";
import { Findings } from "./Findings";
import { Log } from "./Log";
import { Matrix } from "./Matrix";
import { Page } from "./Page";
import { PictureView } from "./Picture";
import { Play } from "./Play";
import { Share } from "./Share";
import { Start } from "./Start";
import { Try } from "./Try";

const PANELS = { try: "Try an RPC", play: "Play", compare: "Compare", log: "Log line", admit: "Server", matrix: "Clients" } as const;
const KNOWN = { cpp: "C++, Python, Ruby and others", go: "grpc-go", java: "grpc-java", node: "grpc-node", rust: "grpc-rust" };

export function App() {
  const [over, setOver] = useState(false);
  const isEmpty = docs.value.length === 0;
  return (
    <div
      class={`app ${over ? "over" : ""}`}
      onDragOver={(event) => { event.preventDefault(); setOver(true); }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => { event.preventDefault(); setOver(false); void dropped(event.dataTransfer); }}
    >
      <header class="top">
        <h1>xdsctl</h1>
        <Clients />
        <Where />
        <Busy />
        {!isEmpty && <Share />}
      </header>
      {serverSays.value.startsWith("xdsctl ui has ended") && <p class="hint" role="status">{serverSays.value}</p>}
      {trouble.value !== "" && <p class="trouble" role="alert">{trouble.value}</p>}
      {isEmpty ? <Start /> : (
        <>
          <nav class="parts" aria-label="Parts of the page">
            {(["files", "picture", "panel"] as const).map((name) => (
              <button key={name} aria-pressed={part.value === name} onClick={() => { part.value = name; }}>
                {{ files: "Files", picture: "Picture", panel: "Ask" }[name]}
              </button>
            ))}
          </nav>
          <main class={`desk show-${part.value}`}>
            <section class="left" aria-label="Files and findings">
              <Files />
              {page.value === "" ? <Findings /> : <Page />}
            </section>
            <section class="middle" aria-label="Picture of the channel">
              {isLarge.value ? <p class="hint">More than 48 MB are listed, and not drawn. Open fewer files for a picture.</p> : <PictureView />}
            </section>
            <section class="right" aria-label="Questions">
              <div class="tabs" role="tablist" aria-label="Questions" onKeyDown={turn}>
                {Object.entries(PANELS).map(([name, label]) => (
                  <button key={name} role="tab" id={`tab-${name}`} aria-selected={panel.value === name} aria-controls="panel" tabIndex={panel.value === name ? 0 : -1}
                    onClick={() => { panel.value = name as keyof typeof PANELS; }}>{label}</button>
                ))}
              </div>
              <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${panel.value}`} tabIndex={0}>
                {panel.value === "try" && <Try />}
                {panel.value === "play" && <Play />}
                {panel.value === "compare" && <Compare />}
                {panel.value === "log" && <Log />}
                {panel.value === "admit" && <Admit />}
                {panel.value === "matrix" && <Matrix />}
              </div>
            </section>
          </main>
        </>
      )}
      <footer class="foot"><span role="status">{summary()}</span></footer>
    </div>
  );
}

/** Arrow keys between tabs. */
export function turn(event: KeyboardEvent) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")];
  const next = tabs[(tabs.indexOf(document.activeElement as HTMLElement) + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}

function summary() {
  const at = checked.value;
  if (at === null) return status.value.state === "loading" ? "The command is loading." : "Nothing leaves this page: the files are read here.";
  const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const count = (severity: "error" | "warning" | "note") => counted(at.severities[severity] ?? 0, severity);
  const rejected = at.verdicts.rejected ?? 0;
  return `${at.client}: ${counted(at.resources, "resource")}, ${rejected} rejected; ${count("error")}, ${count("warning")}, ${count("note")}; ${Math.round(took.value)} ms`;
}

function Clients() {
  const [text, setText] = useState(clients.value.join(","));
  useEffect(() => setText(clients.value.join(",")), [clients.value]);
  const use = (names: string[]) => {
    const named = names.map((name) => name.trim()).filter((name) => /^[a-z]+(@[\w.-]+)?$/.test(name));
    choose(named);
    setText(named.join(","));
    void check();
  };
  const set = (name: string, isOn: boolean) => use(isOn ? [...clients.value, name] : clients.value.filter((one) => one !== name));
  return (
    <div class="clients">
      <details class="choice">
        <summary>Clients: {clients.value.length === 0 ? "the dump's own, else cpp" : clients.value.join(", ")}</summary>
        <div class="found">
          {Object.entries(KNOWN).map(([name, words]) => (
            <label key={name}><input type="checkbox" checked={clients.value.includes(name)} onChange={(event) => set(name, event.currentTarget.checked)} /> {name} <small>{words}</small></label>
          ))}
          <label>With versions <input aria-label="Clients" value={text} size={18} spellcheck={false} placeholder="go@1.72,java" title="With versions, such as go@1.72,java"
            onInput={(event) => setText(event.currentTarget.value)} onChange={(event) => use(event.currentTarget.value.split(","))} /></label>
        </div>
      </details>
      {clients.value.length > 1 && (
        <label>Drawn for <select value={shown.value} onChange={(event) => { shown.value = event.currentTarget.value; void check(); }}>
          {clients.value.map((name) => <option key={name}>{name}</option>)}
        </select></label>
      )}
      {matrix.value !== null && panel.value !== "matrix" && <button class="quiet" onClick={() => { panel.value = "matrix"; part.value = "panel"; }}>Where they differ</button>}
    </div>
  );
}

function Where() {
  const at = graph.value;
  if (at === null) return null;
  return (
    <>
      {at.worlds.length > 1 && (
        <label>World <select value={world.value} onChange={(event) => { world.value = event.currentTarget.value; void check(); }}>
          {at.worlds.map((name) => <option key={name}>{name}</option>)}
        </select></label>
      )}
      {at.listeners.length > 1 && (
        <label>Target <select value={target.value} onChange={(event) => { target.value = event.currentTarget.value; void check(); }}>
          {at.listeners.slice(0, 2000).map((name) => <option key={name}>{name}</option>)}
        </select></label>
      )}
    </>
  );
}

/** Says what runs, once it takes long enough to be wondered about. */
function Busy() {
  const { state, what, since } = status.value;
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (state !== "busy") return;
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, [state, since]);
  if (state === "broken") return <p class="trouble" role="alert">The command cannot be loaded: {what}</p>;
  if (state === "loading") return <p class="busy" role="status">Loading the command <progress aria-label="Loading" /></p>;
  const passed = now - since;
  if (state !== "busy" || passed < 300) return null;
  return (
    <p class="busy" role="status">
      {what} <progress aria-label={`${what} runs`} /> {(passed / 1000).toFixed(1)} s <button onClick={cancel}>Cancel</button>
    </p>
  );
}
