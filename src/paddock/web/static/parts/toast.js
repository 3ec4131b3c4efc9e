// Messages at the foot of the page, read out to those who cannot see them.

import {html} from "../lib/ui.js";
import {dismiss, toasts} from "../lib/toasts.js";
import {Icon} from "./badge.js";
import {Words} from "./words.js";

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map((one) => html`<${Toast} key=${one.id} one=${one} />`)}
  </div>`;
}

function Toast({one: {id, words, hint, tone, act}}) {
  const run = () => {
    dismiss(id);
    act.run();
  };
  return html`<div class=${`toast panel ${tone === "refused" ? "blocked" : "landed"}`}>
    <span class="ico"><${Icon} name=${tone === "refused" ? "blocked" : "landed"} /></span>
    <div><p><${Words} text=${words} /></p>${hint && html`<p class="dim"><${Words} text=${hint} /></p>`}</div>
    ${act && html`<button type="button" class="b" onClick=${run}>${act.words}</button>`}
    <button type="button" class="b bare" aria-label="Dismiss" onClick=${() => dismiss(id)}><${Icon} name="close" />
      </button>
  </div>`;
}
