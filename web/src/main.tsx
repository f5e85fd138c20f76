import "./style.css";
import { render } from "preact";
import { load } from "./engine/engine";
import { openLink } from "./share";
import { follow } from "./served";
import { App } from "./view/App";

render(<App />, document.getElementById("app")!);
// The editor is there before the first file is.
void load(new URL("xdsctl.wasm", document.baseURI).href).then(() => import("./view/editor"));
void openLink(location.hash);
void follow();
addEventListener("hashchange", () => void openLink(location.hash));
