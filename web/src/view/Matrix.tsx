import { clients, matrix, reveal, graph } from "../state";

const MOST = 500;

/** What each client does with each resource. */
export function Matrix() {
  const report = matrix.value;
  if (report === null) return <p class="hint">Choose several clients above: here is what each does with every resource. {clients.value.length > 1 ? "They are being asked." : ""}</p>;
  const names = [...new Set(report.resources.flatMap((resource) => Object.keys(resource.clients ?? {})))];
  const differ = report.resources.filter((resource) => new Set(names.map((name) => resource.clients?.[name]?.verdict)).size > 1);
  const rows = [...differ, ...report.resources.filter((resource) => !differ.includes(resource))];
  return (
    <div class="wide" tabIndex={0}><table class="matrix">
      <caption>{differ.length} of {report.resources.length} resources are taken otherwise by some client</caption>
      <thead><tr><th>Resource</th>{names.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{rows.slice(0, MOST).map((resource, index) => (
        <tr key={index}>
          <th scope="row"><button class="quiet" onClick={() => { for (const node of graph.value?.nodes.values() ?? []) if (node.type === resource.type && node.name === resource.name) return reveal(node.id); }}>{resource.type} {resource.name}</button></th>
          {names.map((name) => {
            const said = resource.clients?.[name];
            return <td key={name} class={said?.verdict === "rejected" || said?.verdict === "dies" ? "bad" : ""} title={said?.rules.join(", ")}>{said?.verdict ?? ""}{said?.effect && said.verdict === "accepted" ? ` (${said.effect})` : ""}</td>;
          })}
        </tr>
      ))}</tbody>
    </table></div>
  );
}
