// A graph on its way between two threads. A copy of a list of texts takes a hundred times as long as one of a single text, so there is
// one for each field, and a list of numbers that says where each ends.
import type { Edge, Graph, Node } from "./graph";

interface Texts { whole: string; ends: Uint32Array }

/** Values of which there are few: each once, and for each node which one it has. */
interface Few { values: string[]; which: Uint32Array }

const TEXTS = ["id", "label", "detail", "why", "name", "path", "address", "sample"] as const;
const FEW = ["kind", "state", "world", "file", "type", "health"] as const;
const NUMBERS = ["start", "end"] as const;

export type Packed = Omit<Graph, "nodes"> & {
  texts: Record<(typeof TEXTS)[number], Texts>; few: Record<(typeof FEW)[number] | "severity", Few>; numbers: Record<(typeof NUMBERS)[number] | "weight", Float64Array>;
  closed: Float64Array; found: Float64Array; findings: number[]; degrees: Float64Array; to: Texts; labels: Texts; shares: Float64Array;
};

/** Texts are put together one by one: of a list of them it would take five times as long. */
function texts<T>(all: T[], of: (one: T) => string): Texts {
  const ends = new Uint32Array(all.length);
  let whole = "";
  for (let at = 0; at < all.length; at += 1) {
    whole += of(all[at]!);
    ends[at] = whole.length;
  }
  return { whole, ends };
}

function few(all: Node[], of: (node: Node) => string): Few {
  const values: string[] = [];
  const known = new Map<string, number>();
  const which = new Uint32Array(all.length);
  for (let at = 0, last = ""; at < all.length; at += 1) {
    const value = of(all[at]!);
    // Neighbours have much in common.
    if (at > 0 && value === last) which[at] = which[at - 1]!;
    else if (known.has(value)) which[at] = known.get(value)!;
    else known.set(value, (which[at] = values.push(value) - 1));
    last = value;
  }
  return { values, which };
}

/** Numbers, of which some may be missing: none of ours is NaN. */
function numbers<T>(all: T[], of: (one: T) => number | null): Float64Array {
  const made = new Float64Array(all.length);
  for (let at = 0; at < all.length; at += 1) made[at] = of(all[at]!) ?? NaN;
  return made;
}

const number = (value: number) => (Number.isNaN(value) ? null : value);

const record = <K extends string, V>(keys: readonly K[], of: (key: K) => V) => Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;

export function pack({ nodes, ...rest }: Graph): Packed {
  const all = [...nodes.values()];
  const edges: Edge[] = [];
  for (const node of all) for (const edge of node.edges) edges.push(edge);
  return {
    ...rest,
    texts: record(TEXTS, (key) => texts(all, (node) => node[key])),
    few: { ...record(FEW, (key) => few(all, (node) => node[key])), severity: few(all, (node) => node.severity ?? "") },
    numbers: { ...record(NUMBERS, (key) => numbers(all, (node) => node[key])), weight: numbers(all, (node) => node.weight) },
    closed: numbers(all, (node) => Number(node.isClosed)), found: numbers(all, (node) => node.findings.length), findings: all.flatMap((node) => node.findings), degrees: numbers(all, (node) => node.edges.length),
    to: texts(edges, (edge) => edge.to), labels: texts(edges, (edge) => edge.label), shares: numbers(edges, (edge) => edge.share),
  };
}

/** The texts one after the other. */
function reader({ whole, ends }: Texts): () => string {
  let at = 0;
  let begin = 0;
  return () => whole.slice(begin, (begin = ends[at++]!));
}

export function unpack({ texts, few, numbers, closed, found, findings, degrees, to, labels, shares, ...rest }: Packed): Graph {
  const nodes = new Map<string, Node>();
  const { id, label, detail, why, name, path, address, sample } = record(TEXTS, (key) => reader(texts[key]));
  const [target, words] = [reader(to), reader(labels)];
  const of = <T extends string>({ values, which }: Few, at: number) => values[which[at]!] as T;
  let edge = 0;
  let finding = 0;
  for (let at = 0; at < degrees.length; at += 1) {
    const edges: Edge[] = [];
    for (let left = degrees[at]!; left > 0; left -= 1) edges.push({ to: target(), label: words(), share: number(shares[edge++]!) });
    const node: Node = {
      id: id(), kind: of(few.kind, at), label: label(), detail: detail(), state: of(few.state, at), why: why(), severity: of<NonNullable<Node["severity"]>>(few.severity, at) || null,
      world: of(few.world, at), file: of(few.file, at), type: of(few.type, at), name: name(), start: numbers.start[at]!, end: numbers.end[at]!, path: path(),
      address: address(), health: of(few.health, at), weight: number(numbers.weight[at]!), edges, findings: findings.slice(finding, (finding += found[at]!)), isClosed: closed[at] === 1, sample: sample(),
    };
    nodes.set(node.id, node);
  }
  return { ...rest, nodes };
}
