import { useState } from "preact/hooks";
import { link, saveSvg } from "../share";

export function Share() {
  const [said, setSaid] = useState("");
  const share = async () => {
    try {
      const { url, said: what } = await link();
      await navigator.clipboard?.writeText(url).catch(() => {});
      history.replaceState(null, "", url);
      setSaid(`The link is in the address bar. ${what}`);
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="share">
      <button onClick={saveSvg}>Save picture</button>
      <button onClick={() => void share()}>Link</button>
      {said !== "" && <small role="status">{said}</small>}
    </div>
  );
}
