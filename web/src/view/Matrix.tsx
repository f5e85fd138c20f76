import type { Finding, ResourceRow } from "../model/report";
import { clients, graph, matrix, page, part, reveal } from "../state";

const MOST = 500;
const MOST_REASONS = 3;

/** What was found of a resource by these rules, the loudest first. */
function reasons({ findings }: ResourceRow, rules: string[]): Finding[] {
  const first = rules.flatMap((rule) => findings.find((finding) => finding.rule === rule) ?? []);
  const isLoud = (finding: Finding) => Number(finding.effect === "nack");
  return first.sort((one, other) => isLoud(other) - isLoud(one)).slice(0, MOST_REASONS);
}

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
            const isBad = said?.verdict === "rejected" || said?.verdict === "dies";
            return (
              <td key={name} class={isBad ? "bad" : ""}>{said?.verdict ?? ""}{said?.effect && said.verdict === "accepted" ? ` (${said.effect})` : ""}
                {(isBad || differ.includes(resource)) && reasons(resource, said?.rules ?? []).map(({ rule, message }) => (
                  <span key={rule} class="why">{message} <button class="quiet" onClick={() => { page.value = rule; part.value = "files"; }}>{rule}</button></span>
                ))}</td>
            );
          })}
        </tr>
      ))}</tbody>
    </table></div>
  );
}
