import { EXAMPLES } from "../examples";
import { choose, compared, open, part, panel, rpc, send } from "../state";
import { Openers } from "./Files";

/** The first thing to see: what it is for, the ways in, and an example for each common fault. */
export function Start() {
  return (
    <main class="start">
      <h2>See what a gRPC client does with your xDS configuration</h2>
      <p>Drop a dump, resources or a directory here. Nothing leaves this page.</p>
      <Openers />
      <h3>Or open an example of a common fault</h3>
      <ul class="examples">
        {EXAMPLES.map((example) => (
          <li key={example.title}>
            <button onClick={() => {
              choose(example.clients ?? []);
              open(example.files.map(([name, text]): [string, Uint8Array] => [name, new TextEncoder().encode(text)]), { instead: true });
              panel.value = example.panel ?? "try";
              if (example.compared !== undefined) compared.value = example.compared;
              if (example.rpc !== undefined) {
                rpc.value = { ...rpc.value, headers: "", session: "", count: 1, ...example.rpc };
                void send();
              }
              part.value = panel.value === "try" ? "picture" : "panel";
            }}><b>{example.title}</b><span>{example.about}</span></button>
          </li>
        ))}
      </ul>
    </main>
  );
}
