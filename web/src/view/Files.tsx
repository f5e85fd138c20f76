import { useEffect, useRef, useState } from "preact/hooks";
import { isServed, openAddress, serverSays } from "../served";
import { active, close, docs, open, roleOf } from "../state";
import type { EditorHandle } from "./editor";

const ENDINGS = /\.(json|jsonl|ndjson|ya?ml|textproto|textpb|txtpb|pbtxt|prototext|pb|binpb|log|txt)$/i;
const MOST_FILES = 5000;

/** Opens what was dropped: files, and the documents below directories. */
export async function dropped(data: DataTransfer | null) {
  if (data === null) return;
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry !== null && entry !== undefined);
  if (entries.length === 0) {
    const text = data.getData("text");
    if (text !== "") paste(text);
    return;
  }
  const files: [string, Uint8Array][] = [];
  for (const entry of entries) await collect(entry, "", files, true);
  if (files.length > 0) open(files);
}

async function collect(entry: FileSystemEntry, base: string, files: [string, Uint8Array][], named: boolean): Promise<void> {
  if (files.length >= MOST_FILES || base.split("/").length > 32) return;
  if (entry.isFile) {
    if (!named && !ENDINGS.test(entry.name)) return;
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    files.push([base + entry.name, new Uint8Array(await file.arrayBuffer())]);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const one of some) if (!one.name.startsWith(".")) await collect(one, `${base}${entry.name}/`, files, false);
  }
}

/** Opens a text; what kind it is shows at its beginning. */
export function paste(text: string) {
  const ending = /^\s*[{[]/.test(text) ? "json" : "yaml";
  const taken = new Set(docs.value.map((doc) => doc.name));
  let number = 1;
  while (taken.has(`paste-${number}.${ending}`)) number += 1;
  open([[`paste-${number}.${ending}`, new TextEncoder().encode(text)]]);
}

/** The ways to open something. */
export function Openers() {
  const [text, setText] = useState<string | null>(null);
  const read = async (list: FileList | null) => {
    const files = await Promise.all([...(list ?? [])].slice(0, MOST_FILES).map(async (file): Promise<[string, Uint8Array]> =>
      [file.webkitRelativePath || file.name, new Uint8Array(await file.arrayBuffer())]));
    if (files.length > 0) open(files);
  };
  return (
    <div class="openers">
      <label class="button">Open files<input type="file" multiple onChange={(event) => void read(event.currentTarget.files)} /></label>
      <label class="button">Directory<input type="file" {...{ webkitdirectory: true }} onChange={(event) => void read(event.currentTarget.files)} /></label>
      <button onClick={() => setText(text === null ? "" : null)} aria-expanded={text !== null}>Paste</button>
      {isServed && <Address />}
      {text !== null && (
        <form class="paste" onSubmit={(event) => { event.preventDefault(); if (text.trim() !== "") { paste(text); setText(null); } }}>
          <textarea aria-label="Configuration" rows={6} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
          <button>Open the text</button>
        </form>
      )}
    </div>
  );
}

/** A running system, which the server fetches. */
function Address() {
  const [address, setAddress] = useState("");
  return (
    <form class="row" onSubmit={(event) => { event.preventDefault(); if (address.trim() !== "") void openAddress(address.trim()); }}>
      <label>Address <input value={address} size={26} spellcheck={false} placeholder="csds://127.0.0.1:50051" onInput={(event) => setAddress(event.currentTarget.value)} /></label>
      <button>Fetch</button>
      {serverSays.value !== "" && <small role="status">{serverSays.value}</small>}
    </form>
  );
}

export function Files() {
  return (
    <>
      <div class="tabs files">
        {docs.value.map((doc) => (
          <span key={doc.name} class={`tab ${doc.name === active.value ? "on" : ""}`}>
            <button aria-pressed={doc.name === active.value} title={doc.name} onClick={() => { active.value = doc.name; }}>
              {doc.name.split("/").at(-1)}{roleOf(doc) === "suite" ? " (suite)" : ""}
            </button>
            <button class="close" aria-label={`Close ${doc.name}`} onClick={() => close(doc.name)}>×</button>
          </span>
        ))}
        <details class="add"><summary>Add</summary><Openers /></details>
      </div>
      <Editor />
    </>
  );
}

/** The editor comes when the first file is there: it is the larger half of the page. */
function Editor() {
  const host = useRef<HTMLDivElement>(null);
  const [handle, setHandle] = useState<EditorHandle | null>(null);
  useEffect(() => {
    let isGone = false;
    let made: EditorHandle | null = null;
    void import("./editor").then(({ mount }) => {
      if (isGone || host.current === null) return;
      made = mount(host.current);
      setHandle(made);
    });
    return () => { isGone = true; made?.destroy(); };
  }, []);
  return <div class="editor" ref={host}>{handle === null && <p class="hint">The editor is loading.</p>}</div>;
}
