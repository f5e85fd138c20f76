import { useState } from "preact/hooks";
import { ask } from "../engine/engine";
import { configs, rpc, shell, who } from "../state";

interface Layer { part: string; outcome: string; what: string; parts: Layer[] }
interface Admitted { end: string; error: { code: string; message: string } | null; layers: Layer[] }

const MOST_LAYERS = 300;
const SIGN: Record<string, string> = { yes: "✔", no: "✖" };

/** A server of the files: which connection it takes, and which RPC it lets in. */
export function Admit() {
  const [from, setFrom] = useState("127.0.0.1");
  const [tls, setTls] = useState(false);
  const [san, setSan] = useState("");
  const [answer, setAnswer] = useState<Admitted | null>(null);
  const [why, setWhy] = useState("");
  const [command, setCommand] = useState("");
  const look = async () => {
    const { method, headers } = rpc.value;
    const lines = headers.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    const client = san.trim() !== "" ? ["--san", san.trim()] : tls ? ["--over-tls"] : [];
    const names = configs.value.map((doc) => doc.name);
    const args = [
      "admit", "--format", "json", ...who(), ...(from.trim() === "" ? [] : ["--from", from.trim()]), ...client,
      ...(method.trim() === "" ? [] : ["--method", method.trim(), ...lines.flatMap((line) => ["--header", line])]), ...names,
    ];
    try {
      const { value, err, trap, code } = await ask<Admitted>("admit", [args[0]!, "--no-config", ...args.slice(1)], { only: names });
      setAnswer(value);
      setCommand(shell(args));
      setWhy(value === null || code === 2 ? trap ?? err.trim() : "");
    } catch { /* a newer question took its place */ }
  };
  const isLetIn = answer?.end === "served" || answer?.end === "connected";
  return (
    <form class="log" onSubmit={(event) => { event.preventDefault(); void look(); }}>
      <p class="hint">Who may call a server whose Listener is open here? Leave the method empty to ask about the connection alone.</p>
      <label>Method <input value={rpc.value.method} spellcheck={false} onInput={(event) => { rpc.value = { ...rpc.value, method: event.currentTarget.value }; }} /></label>
      <div class="row">
        <label>From <input value={from} size={16} spellcheck={false} onInput={(event) => setFrom(event.currentTarget.value)} /></label>
        <label>Certificate for <input value={san} size={26} spellcheck={false} placeholder="uri:spiffe://shop/sa/cart" onInput={(event) => setSan(event.currentTarget.value)} /></label>
        <label><input type="checkbox" checked={tls || san.trim() !== ""} onChange={(event) => setTls(event.currentTarget.checked)} /> TLS</label>
        <button class="main">Is it let in?</button>
      </div>
      {why !== "" && <pre class="told" tabIndex={0}>{why}</pre>}
      {answer !== null && (
        <section aria-label="Answer of the server">
          <p class={`result ${isLetIn ? "good" : "bad"}`} role="status"><b>{answer.end}</b> {answer.error !== null && `${answer.error.code}: ${answer.error.message}`}</p>
          <Layers layers={answer.layers} />
          <p class="command"><code>{command}</code></p>
        </section>
      )}
    </form>
  );
}

function Layers({ layers }: { layers: Layer[] }) {
  return (
    <ul class="layers">{layers.slice(0, MOST_LAYERS).map((layer, index) => (
      <li key={index} class={layer.outcome === "no" ? "no" : ""}>{SIGN[layer.outcome] ?? ""} <b>{layer.part}</b> {layer.what}
        {layer.parts.length > 0 && <Layers layers={layer.parts} />}</li>
    ))}</ul>
  );
}
