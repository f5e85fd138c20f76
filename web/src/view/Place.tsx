import { useEffect, useState } from "preact/hooks";
import type { Node } from "../model/graph";
import { docs, placeIn, show } from "../state";

/** A link to a field of a node's resource: the file, and the line. */
export function Place({ node, path }: { node: Node | undefined; path: string }) {
  const [place, setPlace] = useState<Awaited<ReturnType<typeof placeIn>>>(null);
  const version = docs.value.find((doc) => doc.name === node?.file)?.version;
  useEffect(() => {
    let isOld = false;
    if (node !== undefined) void placeIn(node, path).then((found) => { if (!isOld) setPlace(found); });
    return () => { isOld = true; };
  }, [node, path, version]);
  if (node === undefined || place === null) return null;
  return <button class="quiet at" onClick={() => show(node.file, place.from, place.to, true)}>{node.file.split("/").at(-1)}:{place.line}</button>;
}
