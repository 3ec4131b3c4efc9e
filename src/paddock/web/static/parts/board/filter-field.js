// The field for a filter over the board; what is wrong with it stands below, with its place, and moves nothing.

import {html} from "../../lib/ui.js";
import {Words} from "../words.js";

/** `mistake` is null while the filter makes sense. */
export function FilterField({field, text, mistake, set}) {
  return html`<div class="filter"><label><span class="hide">Filter</span>
    <input class="field" type="search" ref=${field} placeholder="Filter" value=${text} spellcheck="false"
      autocomplete="off" autocapitalize="off" title='words, -word, phase=blocked and age>2h, agent=rev*, t3-t9'
      aria-invalid=${mistake ? "true" : "false"} aria-describedby="filter-mistake"
      onInput=${(event) => set(event.currentTarget.value)}
      onKeyDown=${(event) => { if (event.key === "Enter") event.currentTarget.blur(); }} /><kbd>/</kbd></label>
    <div id="filter-mistake" role="status">${mistake && html`<${Mistake} text=${text} mistake=${mistake} />`}</div>
  </div>`;
}

/** The filter with a caret line under the spot, as the command line shows it; long ones are cut in front of it. */
function Mistake({text, mistake}) {
  const {start, end, message, hint} = mistake;
  const from = Math.max(0, start - 24);
  const spot = text.slice(start, end) || " ";
  return html`<div class="mistake panel"><code>${from ? "…" : ""}${text.slice(from, start)}<mark>${spot}</mark>${
    text.slice(end, end + 24)}</code><p><${Words} text=${message} /></p>
    ${hint && html`<p class="dim">${hint}</p>`}</div>`;
}
