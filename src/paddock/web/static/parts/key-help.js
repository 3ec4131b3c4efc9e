// All keys that work on this page, as the page registered them.

import {html} from "../lib/ui.js";
import {layers, listedKeys, useKeys} from "../lib/keys.js";
import {Dialog} from "./dialog.js";

const SHOWN = {"ctrl+k": "Ctrl K", space: "space", enter: "enter", escape: "esc", down: "↓", up: "↑"};

export function KeyHelp({close}) {
  const shown = [...listedKeys(layers.peek())].reverse();
  useKeys({"?": () => close(null)}, {scope: "Keys", modal: true});
  return html`<${Dialog} title="Keys" close=${close}>
    <header><h2>Keys</h2><span class="end">
      <button type="button" class="b" data-first onClick=${() => close(null)}>Close <kbd>esc</kbd></button></span>
        </header>
    <div class="in keys">${shown.map(([scope, keys]) => html`<section>
      <h3>${scope}</h3>
      <dl>${keys.map(({key, words}) => html`<div><dt><kbd>${SHOWN[key] ?? key}</kbd></dt><dd>${words}</dd></div>`)}</dl>
    </section>`)}</div>
  </${Dialog}>`;
}
