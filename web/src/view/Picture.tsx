import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { HEIGHT, NARROW, STEP, WIDTH, layout, type Box, type Picture } from "../model/layout";
import type { Node } from "../model/graph";
import { changes, checked, diffed, failing, focus, folding, graph, moment, panel, part, pinned, reach, reveal, roots, rpc, selected, send, sketch, unread, way, type Change } from "../state";
import { SessionButton, Weights } from "./WhatIf";

const SIGN: Record<string, string> = {
  listener: "L", virtual_host: "V", route: "R", cluster: "C", priority: "P", locality: "Y", endpoint: "", host: "D", rest: "A",
};
const KIND: Record<string, string> = {
  listener: "Listener", virtual_host: "virtual host", route: "route", cluster: "Cluster", priority: "priority", locality: "locality", endpoint: "endpoint", host: "DNS name", rest: "ClusterLoadAssignment",
};
const STATE: Record<string, string> = { ok: "", rejected: "rejected", missing: "missing", left: "left out", unused: "not used" };
const CHARS = 19;
/** Longer details are drawn narrower. */
const DETAIL = 23;
/** Smaller than this it cannot be read; who wants all of it in one view asks for that. */
const LEAST = 0.56;
const MOST_FOUND = 50;

const cut = (text: string, most = CHARS) => {
  const signs = [...text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "�")];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : signs.join("");
};

/** How an endpoint is, with what was clicked and what happens at the moment that is played. */
export function healthOf(node: Node): { shape: string; word: string } {
  if (node.state === "left") return { shape: "bad", word: "" };
  const change: Change = changes.value[node.address] ?? {};
  const played = moment.value?.states.get(node.address);
  if (played !== undefined) {
    return { shape: { READY: "good", CONNECTING: "soon", TRANSIENT_FAILURE: "bad", IDLE: "idle" }[played] ?? "idle", word: played };
  }
  if (change.down) return { shape: "bad", word: "down" };
  if (change.ejected) return { shape: "bad", word: "ejected" };
  const health = change.health ?? node.health;
  if (health === "DRAINING") return { shape: "half", word: "DRAINING" };
  if (health === "UNHEALTHY" || health === "TIMEOUT") return { shape: "bad", word: health };
  return change.slow ? { shape: "soon", word: "slow" } : { shape: "good", word: health === "UNKNOWN" ? "" : health };
}

export function PictureView() {
  const at = graph.value;
  const [seen, setSeen] = useState({ x: 0, y: 0, w: 800, h: 400 });
  const [chosen, setScale] = useState<number | null>(null);
  const [room, setRoom] = useState(800);
  const picture = useMemo(() => (at === null ? sketch.value : layout(at, roots.value, folding.value, pinned.value, room)), [at, sketch.value, roots.value, folding.value, pinned.value, room < NARROW]);
  const scroller = useRef<HTMLDivElement>(null);
  // As wide as there is room, as long as it can be read.
  const scale = chosen ?? Math.min(1, Math.max(LEAST, room / ((picture?.width ?? 1) + 20)));
  const look = () => {
    const box = scroller.current;
    if (box === null) return;
    setRoom(box.clientWidth);
    setSeen({ x: box.scrollLeft / scale, y: box.scrollTop / scale, w: box.clientWidth / scale, h: box.clientHeight / scale });
  };
  useEffect(() => {
    look();
    const watch = new ResizeObserver(look);
    if (scroller.current !== null) watch.observe(scroller.current);
    return () => watch.disconnect();
  }, [scale, picture === null]);
  useEffect(() => {
    const box = picture?.byId.get(selected.value);
    const view = scroller.current;
    if (box === undefined || view === null) return;
    const isSeen = box.x * scale >= view.scrollLeft && (box.x + WIDTH) * scale <= view.scrollLeft + view.clientWidth
      && box.y * scale >= view.scrollTop && (box.y + HEIGHT) * scale <= view.scrollTop + view.clientHeight;
    if (!isSeen) view.scrollTo({ left: (box.x - 40) * scale, top: box.y * scale - view.clientHeight / 2 });
  }, [selected.value, picture]);
  // Where the RPC ends up comes into view.
  useEffect(() => {
    const lit = [...way.value].map((id) => picture?.byId.get(id)).filter((box) => box !== undefined);
    const view = scroller.current;
    if (view === null || lit.length === 0 || lit.some((box) => box.level > 1 && box.y * scale >= view.scrollTop && box.y * scale <= view.scrollTop + view.clientHeight)) return;
    view.scrollTo({ top: Math.max(0, Math.max(...lit.map((box) => box.y)) * scale - view.clientHeight / 2) });
  }, [way.value, picture]);
  if (picture === null) return <p class="hint">The picture comes when the files are checked.</p>;
  const margin = 200;
  const isIn = (x1: number, y1: number, x2: number, y2: number) =>
    Math.max(x1, x2) > seen.x - margin && Math.min(x1, x2) < seen.x + seen.w + margin && Math.max(y1, y2) > seen.y - margin && Math.min(y1, y2) < seen.y + seen.h + margin;
  return (
    <>
      <div class="tools">
        <Search />
        <button aria-label="Smaller" onClick={() => setScale(Math.max(0.3, scale / 1.25))}>−</button>
        <button onClick={() => { const box = scroller.current; if (box !== null) setScale(Math.max(0.1, Math.min(1, box.clientWidth / (picture.width + 20), box.clientHeight / (picture.height + 20)))); }}>Fit</button>
        <button aria-label="Larger" onClick={() => setScale(Math.min(2, scale * 1.25))}>+</button>
        {focus.value !== "" && <button onClick={() => { focus.value = ""; }}>Show all</button>}
      </div>
      {unread.value !== "" && <p class="hint" role="status">The picture is of the text before: {unread.value} cannot be read.</p>}
      <div class={`scroller ${unread.value === "" ? "" : "before"} ${at === null ? "sketch" : ""}`} ref={scroller} onScroll={look}>
        <svg id="picture" class="picture" role="tree" aria-label="What the client holds" tabindex={0} aria-activedescendant={picture.byId.has(selected.value) ? idOf(selected.value) : undefined}
          width={(picture.width + 16) * scale} height={(picture.height + 16) * scale} viewBox={`-8 -8 ${picture.width + 16} ${picture.height + 16}`}
          onKeyDown={(event) => keys(event, picture)}>
          {picture.lines.filter((line) => isIn(line.x1, line.y1, line.x2, line.y2)).map((line) => {
            const lit = way.value.has(line.from) && way.value.has(line.to);
            const fails = lit && failing.value.has(line.to);
            const middle = (line.x1 + line.x2) / 2;
            const [x, y, anchor] = picture.isList ? [line.x2 + WIDTH + 6, line.y2 + 4, "start"] : [line.x2 - 2, line.y2 - 4, "end"];
            return (
              <g key={`${line.from}>${line.to}`} role="presentation" class={`line ${lit ? "lit" : ""} ${fails ? "failing" : ""} ${line.crosses ? "crosses" : ""}`}>
                <path d={picture.isList ? `M${line.x1} ${line.y1} V${line.y2} H${line.x2}` : `M${line.x1} ${line.y1} C${middle} ${line.y1} ${middle} ${line.y2} ${line.x2} ${line.y2}`} />
                {(line.share !== null || line.label !== "") && (
                  <text x={x} y={y} text-anchor={anchor}>{line.share === null ? line.label : `${Math.round(line.share * 1000) / 10}%`}</text>
                )}
              </g>
            );
          })}
          {picture.boxes.filter((box) => isIn(box.x, box.y, box.x + WIDTH, box.y + HEIGHT)).map((box) => <BoxView key={box.id} box={box} />)}
        </svg>
      </div>
      <Details />
    </>
  );
}

const idOf = (id: string) => `n-${[...id].map((sign) => (/[A-Za-z0-9]/.test(sign) ? sign : `_${sign.codePointAt(0)!.toString(16)}`)).join("")}`;

function BoxView({ box }: { box: Box }) {
  const { node, x, y, id } = box;
  if (node === null) {
    return (
      <g id={idOf(id)} role="treeitem" aria-level={box.level + 1} aria-selected={selected.value === id} class={`box more ${selected.value === id ? "chosen" : ""}`} transform={`translate(${x} ${y})`}
        onClick={() => more(id)}>
        <rect width={WIDTH} height={HEIGHT} rx={4} /><text x={10} y={22}>{box.more} more</text>
      </g>
    );
  }
  const health = node.kind === "endpoint" ? healthOf(node) : null;
  const change = diffed.value?.get(node.id);
  const count = moment.value?.counts.get(node.address);
  const detail = cut([...new Set([change, STATE[node.state], health?.word, count ? `${count} RPCs` : "", ...node.detail.split(", ")])].filter((word) => word).join(", "), 32);
  const words = [KIND[node.kind], node.label, node.detail, STATE[node.state], health?.word, node.why, change].filter((word) => word).join(", ");
  return (
    <g id={idOf(id)} role="treeitem" aria-level={box.level + 1} aria-selected={selected.value === id}
      aria-expanded={box.folds > 0 ? box.open : undefined}
      class={`box ${node.kind} ${node.state} ${node.severity ?? ""} ${way.value.has(id) ? "lit" : ""} ${failing.value.has(id) ? "failing" : ""} ${selected.value === id ? "chosen" : ""} ${change ? "changed" : ""}`}
      transform={`translate(${x} ${y})`} onClick={() => reveal(id)} onDblClick={() => toggle(box)}>
      <title>{words}</title>
      <rect width={WIDTH} height={HEIGHT} rx={4} />
      {health !== null ? <Health shape={health.shape} /> : <text class="sign" x={8} y={23}>{SIGN[node.kind]}</text>}
      <text class="label" x={24} y={15}>{cut(node.label)}</text>
      <text class="detail" x={24} y={29} {...(detail.length > DETAIL ? { textLength: WIDTH - 36, lengthAdjust: "spacingAndGlyphs" } : {})}>{detail}</text>
      {node.severity !== null && <text class={`mark ${node.severity}`} x={WIDTH - 24} y={15}>{{ error: "✖", warning: "▲", note: "●" }[node.severity]}</text>}
      {box.folds > 0 && <g class="fold" onClick={(event) => { event.stopPropagation(); toggle(box); }}><rect x={WIDTH - 14} y={0} width={14} height={HEIGHT} /><text x={WIDTH - 11} y={23}>{box.open ? "‹" : "›"}</text></g>}
    </g>
  );
}

function Health({ shape }: { shape: string }) {
  switch (shape) {
    case "bad": return <path class="health bad" d="M8 12 L18 24 M18 12 L8 24" />;
    case "half": return <path class="health half" d="M13 11 L20 18 L13 25 L6 18 Z" />;
    case "soon": return <rect class="health soon" x={8} y={13} width={10} height={10} />;
    case "idle": return <circle class="health idle" cx={13} cy={18} r={5} />;
    default: return <circle class="health good" cx={13} cy={18} r={6} />;
  }
}

function toggle(box: Box) {
  if (box.node !== null && !box.open) reach([box.node]);
  const open = new Map(folding.value.open);
  open.set(box.id, !box.open);
  folding.value = { ...folding.value, open };
}

function more(id: string) {
  const parent = id.replace(/\|more$/, "");
  const counts = new Map(folding.value.more);
  counts.set(parent, (counts.get(parent) ?? STEP) + STEP);
  folding.value = { ...folding.value, more: counts };
}

/** Arrow keys as in any tree. */
function keys(event: KeyboardEvent, picture: Picture) {
  const order = [...picture.boxes].sort((one, other) => one.y - other.y || one.x - other.x);
  const box = picture.byId.get(selected.value);
  const choose = (next: Box | undefined) => { if (next !== undefined) selected.value = next.id; };
  const sibling = (step: number) => {
    if (box === undefined) return choose(order.find((one) => one.level === 0));
    const same = order.filter((one) => one.level === box.level);
    choose(same[same.indexOf(box) + step]);
  };
  switch (event.key) {
    case "ArrowDown": sibling(1); break;
    case "ArrowUp": sibling(-1); break;
    case "ArrowLeft": if (box?.parent) choose(picture.byId.get(box.parent)); break;
    case "ArrowRight":
      if (box !== undefined && box.folds > 0 && !box.open) toggle(box);
      else choose(order.find((one) => one.parent === box?.id));
      break;
    case "Enter":
    case " ":
      if (box?.node === null) more(box.id);
      else if (box !== undefined) reveal(box.id);
      break;
    case "Escape": if (box?.open) toggle(box); break;
    default: return;
  }
  event.preventDefault();
}

function Search() {
  const [text, setText] = useState("");
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return [];
    const all: Node[] = [];
    for (const node of graph.value?.nodes.values() ?? []) {
      if (node.label.toLowerCase().includes(wanted) || node.detail.toLowerCase().includes(wanted)) all.push(node);
      if (all.length >= MOST_FOUND) break;
    }
    return all;
  }, [text, graph.value]);
  return (
    <div class="search">
      <label>Search <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === "Enter" && found[0]) { reveal(found[0].id); setText(""); } }} /></label>
      {found.length > 0 && (
        <ul class="found">{found.map((node) => (
          <li key={node.id}><button onClick={() => { reveal(node.id); setText(""); }}>{KIND[node.kind]} {cut(node.label, 60)} <small>{cut(node.detail, 40)}</small></button></li>
        ))}</ul>
      )}
    </div>
  );
}

/** What can be done with the chosen node. */
function Details() {
  const node = graph.value?.nodes.get(selected.value);
  if (node === undefined) return <p class="hint">Choose a box: its line is shown in the editor, and what can be tried with it here.</p>;
  const found = node.findings.map((index) => checked.value?.findings[index]).filter((finding) => finding !== undefined).slice(0, MOST_FOUND);
  const change = changes.value[node.address] ?? {};
  const tryIt = () => {
    const [method, ...headers] = node.sample.split("\n");
    rpc.value = { ...rpc.value, method: method!, headers: headers.join("\n") };
    panel.value = "try";
    part.value = "panel";
    void send();
  };
  const set = (next: Change) => {
    const all = { ...changes.value, [node.address]: { ...change, ...next } };
    changes.value = all;
    void send();
  };
  return (
    <div class="details">
      <h2>{KIND[node.kind]} {cut(node.label, 80)}</h2>
      <p>{[STATE[node.state], node.detail, found.some((finding) => finding.message === node.why) ? "" : node.why].filter((word) => word).join("; ")}</p>
      {found.map((finding, index) => (
        <p key={index} class={finding.severity}><b>{finding.severity}</b> {finding.message}{finding.help && <><br />Help: {finding.help}</>}</p>
      ))}
      <div class="row">
        <button onClick={() => reveal(node.id)}>Show its line</button>
        {node.sample !== "" && <button onClick={tryIt}>Try such an RPC</button>}
        {node.edges.length > 0 && <button onClick={() => { focus.value = node.id; }}>Look at this alone</button>}
      </div>
      {node.kind === "endpoint" && (
        <fieldset class="row">
          <legend>What if</legend>
          <label><input type="checkbox" checked={change.down ?? false} onChange={(event) => set({ down: event.currentTarget.checked })} /> down</label>
          <label><input type="checkbox" checked={(change.health ?? node.health) === "DRAINING"} onChange={(event) => set({ health: event.currentTarget.checked ? "DRAINING" : node.health === "DRAINING" ? "HEALTHY" : undefined })} /> draining</label>
          <label><input type="checkbox" checked={change.slow ?? false} onChange={(event) => set({ slow: event.currentTarget.checked })} /> slow</label>
          <label><input type="checkbox" checked={change.ejected ?? false} onChange={(event) => set({ ejected: event.currentTarget.checked })} /> ejected</label>
          <SessionButton address={node.address} />
        </fieldset>
      )}
      <Weights node={node} />
    </div>
  );
}
