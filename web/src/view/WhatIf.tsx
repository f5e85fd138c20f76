import { useEffect, useState } from "preact/hooks";
import type { Node } from "../model/graph";
import { docs, edit, graph, panel, rpc, send } from "../state";

/** The cookie of an endpoint's session, by a click. */
export function SessionButton({ address }: { address: string }) {
  return (
    <button onClick={() => { rpc.value = { ...rpc.value, session: rpc.value.session === address ? "" : address }; panel.value = "try"; void send(); }}>
      {rpc.value.session === address ? "Without its session" : "With its session"}
    </button>
  );
}

interface Field { label: string; path: string; weight: number }

const LARGEST = 100;

/** The weights of a node, and those of what it splits to. */
function fields(node: Node): Field[] {
  if (node.kind === "locality" && node.state === "ok") return [{ label: "weight of the locality", path: `${node.path}.load_balancing_weight`, weight: node.weight ?? 1 }];
  if (node.kind === "endpoint" && node.state === "ok") return [{ label: "weight of the endpoint", path: `${node.path}.load_balancing_weight`, weight: node.weight ?? 1 }];
  if (node.kind !== "route") return [];
  return node.edges.flatMap((edge, index) => edge.share === null ? [] : [{
    label: graph.value?.nodes.get(edge.to)?.label ?? "", path: `${node.path}.route.weighted_clusters.clusters[${index}].weight`, weight: Math.round(edge.share * LARGEST),
  }]);
}

/** Sliders that write into the file: the answer follows, the editor takes it back. */
export function Weights({ node }: { node: Node }) {
  return <>{fields(node).map((field) => <Slider key={field.path} node={node} field={field} />)}</>;
}

function Slider({ node, field }: { node: Node; field: Field }) {
  const [why, setWhy] = useState("");
  const [value, setValue] = useState(field.weight);
  useEffect(() => setValue(field.weight), [field.weight]);
  const set = async (weight: number) => {
    const doc = docs.value.find((one) => one.name === node.file);
    if (doc?.text == null) return setWhy("the file is too large to be edited here");
    const { placeOf } = await import("../model/place");
    const [from, to] = placeOf(doc, node.start, node.end, field.path);
    const bytes = doc.bytes.subarray(from, to);
    const old = new TextDecoder().decode(bytes);
    if (!/^"?\d+"?$/.test(old.trim())) return setWhy("the file does not say this weight: write it there first");
    const head = new TextDecoder().decode(doc.bytes.subarray(0, from));
    const tail = new TextDecoder().decode(doc.bytes.subarray(to));
    setWhy("");
    edit(doc.name, head + String(weight) + tail);
  };
  return (
    <p class="row">
      <label>{field.label} <input type="range" min={1} max={Math.max(LARGEST, field.weight)} value={value}
        onInput={(event) => { setValue(Number(event.currentTarget.value)); void set(Number(event.currentTarget.value)); }} /> {value}</label>
      {why !== "" && <small role="alert">{why}</small>}
    </p>
  );
}
