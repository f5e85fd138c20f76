// Where a field stands in the text of its resource: the command says where findings are, and the page where everything else is.
import type { SyntaxNode, Tree } from "@lezer/common";
import { jsonLanguage } from "@codemirror/lang-json";
import { yamlLanguage } from "@codemirror/lang-yaml";
import type { Doc } from "../state";

/** A resource that is larger is shown from its beginning. */
const PARSED_BYTES = 2 << 20;

const plain = (name: string) => name.replace(/^["']|["']$/g, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `virtual_hosts[0].routes[1]` as steps; what is packed in an Any is one step with its field. */
function steps(path: string): (string | number)[] {
  const made: (string | number)[] = [];
  for (const [, name, index] of path.replace(/\bvalue\[[^\]]*\]/g, "value").matchAll(/([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]/g)) {
    if (name !== undefined) made.push(name);
    else made.push(Number(index));
  }
  return made.filter((step) => step !== "value");
}

const children = (node: SyntaxNode, ...names: string[]) => names.flatMap((name) => node.getChildren(name));

/** The value of a key, or the element of a list; an Any's own type is passed over. */
function member(node: SyntaxNode, step: string | number, text: string): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at !== null; ) {
    if (typeof step === "number") {
      const items = at.name === "Array" ? values(at) : children(at, "Item");
      if (at.name === "Array" || items.length > 0) return items[step] ?? null;
    } else if (["Object", "BlockMapping", "FlowMapping"].includes(at.name)) {
      for (const pair of children(at, "Property", "Pair")) {
        const key = pair.firstChild;
        if (key !== null && plain(text.slice(key.from, key.to).replace(/:$/, "").trim()) === step) return pair.lastChild;
      }
      return null;
    }
    at = inner(at);
  }
  return null;
}

const values = (node: SyntaxNode) => {
  const found: SyntaxNode[] = [];
  for (let at = node.firstChild; at !== null; at = at.nextSibling) if (!["[", "]", ",", "⚠"].includes(at.name)) found.push(at);
  return found;
};

/** What a wrapper holds: a document, an item of a list, a value with a tag. */
function inner(node: SyntaxNode): SyntaxNode | null {
  for (let at = node.firstChild; at !== null; at = at.nextSibling) {
    if (["Object", "Array", "BlockMapping", "FlowMapping", "BlockSequence", "FlowSequence", "Document", "Stream", "JsonText", "Item", "Literal"].includes(at.name)) return at;
  }
  return null;
}

/** The bytes of a field of the resource at these bytes; as much of the path as the text has. */
export function placeOf(doc: Doc, start: number, end: number, path: string): [number, number] {
  if (path === "" || end - start > PARSED_BYTES) return [start, start];
  // What stands before it in its line is indentation to those that follow.
  const column = start - (doc.bytes.lastIndexOf(0x0a, Math.max(0, start - 1)) + 1);
  const indent = column < 1000 ? column : 0;
  const text = " ".repeat(indent) + new TextDecoder().decode(doc.bytes.subarray(start, end));
  const isJson = /^\s*[{[]/.test(text);
  const tree: Tree = (isJson ? jsonLanguage : yamlLanguage).parser.parse(text);
  let at: SyntaxNode = tree.topNode;
  for (const step of steps(path)) {
    const next = member(at, step, text);
    if (next === null) break;
    at = next;
  }
  if (at === tree.topNode) return [start, start];
  const bytes = (upTo: number) => new TextEncoder().encode(text.slice(0, upTo)).length - indent;
  return [start + bytes(at.from), start + bytes(at.to)];
}
