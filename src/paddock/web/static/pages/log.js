import {html} from "../lib/ui.js";

function Page() {
  return html`<main class="page"><div class="head"><div><h1>Log</h1></div></div></main>`;
}

export default {title: () => "Log", view: () => null, Page};
