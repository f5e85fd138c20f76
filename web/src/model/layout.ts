// Which nodes are seen, and where each stands: a tidy tree from left to right. A cluster of several routes stands once, below the first.
import { flextree } from "d3-flextree";
import type { Graph, Node } from "./graph";

export const WIDTH = 156;
export const HEIGHT = 36;
const GAP_X = 30;
const GAP_Y = 8;

/** With less room the tree stands as a list, indented by this. */
export const NARROW = 560;
const INDENT = 18;
/** Room for a share beside a box. */
const BESIDE = 44;

/** Children that are shown at first, and how many more at a time. */
export const STEP = 40;

/** Nodes that are opened by themselves. */
const OPENED = 60;

export interface Box { id: string; node: Node | null; more: number; parent: string | null; level: number; x: number; y: number; open: boolean; folds: number }

export interface Line { from: string; to: string; label: string; share: number | null; x1: number; y1: number; x2: number; y2: number; crosses: boolean }

export interface Picture { boxes: Box[]; byId: Map<string, Box>; lines: Line[]; width: number; height: number; isList: boolean }

/** What the reader has opened, closed and asked for more of. */
export interface Folding { open: Map<string, boolean>; more: Map<string, number> }

interface Item { id: string; node: Node | null; more: number; children: Item[]; level: number; parent: string | null; size: [number, number] }

/** Opens what fits, level by level. */
export function opened(graph: Graph, roots: string[]): Set<string> {
  const open = new Set<string>();
  const seen = new Set(roots);
  let shown = Math.min(roots.length, STEP);
  let level = roots.slice(0, STEP);
  while (level.length > 0) {
    const next: string[] = [];
    for (const id of level) {
      const children = (graph.nodes.get(id)?.edges ?? []).map((edge) => edge.to).filter((to) => !seen.has(to)).slice(0, STEP);
      if (children.length > 0 && shown + children.length > OPENED) continue;
      open.add(id);
      shown += children.length;
      for (const child of children) seen.add(child);
      next.push(...children);
    }
    level = next;
  }
  return open;
}

/** Everything below a node, itself included. */
export function below(graph: Graph, id: string): Set<string> {
  const seen = new Set([id]);
  for (const at of seen) for (const edge of graph.nodes.get(at)?.edges ?? []) seen.add(edge.to);
  return seen;
}

/** A way from a root to a node. */
export function wayTo(graph: Graph, roots: string[], id: string): string[] {
  const from = new Map<string, string | null>(roots.map((root) => [root, null]));
  for (const [at] of from) {
    if (at === id) break;
    for (const edge of graph.nodes.get(at)?.edges ?? []) if (!from.has(edge.to)) from.set(edge.to, at);
  }
  const way: string[] = [];
  for (let at: string | null | undefined = from.has(id) ? id : null; at; at = from.get(at)) way.unshift(at);
  return way;
}

/** Lays out what is seen. `pinned` nodes are shown although they stand behind the first children of their parent. */
export function layout(graph: Graph, roots: string[], folding: Folding, pinned: Set<string>, room = Infinity): Picture {
  const isList = room < NARROW;
  const auto = opened(graph, roots);
  const placed = new Set<string>();
  const top: Item = { id: "", node: null, more: 0, children: [], level: -1, parent: null, size: [0, 0] };
  const size: [number, number] = [HEIGHT + GAP_Y, WIDTH + GAP_X];
  const fill = (item: Item, ids: string[]) => {
    const fresh = ids.filter((id) => graph.nodes.has(id) && !placed.has(id));
    const most = folding.more.get(item.id) ?? STEP;
    const shown = fresh.filter((id, index) => index < most || pinned.has(id));
    for (const id of shown) placed.add(id);
    for (const id of shown) {
      const node = graph.nodes.get(id)!;
      item.children.push({ id, node, more: 0, children: [], level: item.level + 1, parent: item.id === "" ? null : item.id, size });
    }
    const left = fresh.length - shown.length;
    if (left > 0) item.children.push({ id: `${item.id}|more`, node: null, more: left, children: [], level: item.level + 1, parent: item.id === "" ? null : item.id, size });
  };
  fill(top, roots);
  const queue = [...top.children];
  for (const item of queue) {
    if (item.node === null || !isOpen(item.id, folding, auto)) continue;
    fill(item, item.node.edges.map((edge) => edge.to));
    queue.push(...item.children);
  }
  const byId = new Map<string, Box>();
  let least = Infinity;
  let most = -Infinity;
  let width = 0;
  const put = ({ id, node, more, parent, level }: Item, x: number, y: number) => {
    if (level < 0) return;
    least = Math.min(least, y);
    most = Math.max(most, y);
    width = Math.max(width, x + WIDTH);
    byId.set(id, { id, node, more, parent, level, x, y, open: isOpen(id, folding, auto), folds: node?.isClosed ? Math.max(1, node.edges.length) : node?.edges.length ?? 0 });
  };
  if (isList) {
    const stack = [...top.children].reverse();
    for (let at = stack.pop(), row = 0; at !== undefined; at = stack.pop(), row += 1) {
      put(at, at.level * INDENT, row * (HEIGHT + GAP_Y));
      stack.push(...[...at.children].reverse());
    }
  } else {
    const tree = flextree<Item>({ nodeSize: ({ data }) => data.size, spacing: 0, children: (item) => item.children }).hierarchy(top);
    flextree<Item>({ nodeSize: ({ data }) => data.size, spacing: 0 })(tree);
    tree.each((at) => put(at.data, at.y, at.x));
  }
  for (const box of byId.values()) box.y -= least === Infinity ? 0 : least;
  const lines: Line[] = [];
  for (const box of byId.values()) {
    if (box.node === null || !box.open) continue;
    for (const edge of box.node.edges) {
      const to = byId.get(edge.to);
      if (to === undefined) continue;
      lines.push({
        from: box.id, to: to.id, label: edge.label, share: edge.share, x1: isList ? box.x + INDENT / 2 : box.x + WIDTH, y1: isList ? box.y + HEIGHT : box.y + HEIGHT / 2, x2: to.x, y2: to.y + HEIGHT / 2,
        crosses: to.parent !== box.id,
      });
    }
  }
  return { boxes: [...byId.values()], byId, lines, width: (width || WIDTH) + (isList ? BESIDE : 0), height: most === -Infinity ? HEIGHT : most - least + HEIGHT, isList };
}

const isOpen = (id: string, folding: Folding, auto: Set<string>) => folding.open.get(id) ?? auto.has(id);
