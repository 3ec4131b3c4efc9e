// How full each limit is; the one that holds agents back says why, until when, and what to run.

import {html} from "../../lib/ui.js";
import {timeOfDay} from "../../lib/format.js";
import {Bar} from "../bar.js";

export function Limits({fleet}) {
  return html`<section class="panel">
    <header><h2>How full each limit is</h2><span class="end">${bindingWords(fleet)}</span></header>
    <div class="in"><ol class="ladder">${fleet.limits.map((limit) =>
      html`<${Limit} key=${limit.name + limit.unit} limit=${limit} isOld=${fleet.daemon !== "running"} />`)}</ol>
      ${fleet.limits.some((limit) => limit.name.startsWith("budget"))
        && html`<p class="hints">Of a budget, what is reserved for agents at work counts as spent.</p>`}</div>
  </section>`;
}

function bindingWords({daemon, limits}) {
  if (daemon !== "running") return "no daemon applies them now";
  return limits.some((limit) => limit.binds) ? "the marked one holds agents back" : "none holds agents back";
}

/** Agents may be said to work beyond the cap only where nobody has looked since. */
function Limit({limit, isOld}) {
  const {name, used, most, amount, words, binds, until, run} = limit;
  const isShut = most === 0 && used >= most;
  const parts = [{of: binds ? "blocked" : isShut ? "failed" : "plain", value: isShut ? 1 : Math.min(used, most ?? 0)}];
  return html`<li class=${binds ? "bind" : ""} title=${words}><span class="cut">${name}</span>
      ${most == null ? html`<span class="dim cut">${words}</span>`
        : html`<${Bar} parts=${parts} most=${most || 1} label=${`${name}: ${amount}`} />`}
      <span class="num">${isOld && most != null && used > most ? `${used} when last seen` : amount}</span></li>
    ${(binds || isShut) && html`<li class="why">${words}${until && `, until ${timeOfDay(until)}`}
      ${run && html`. <code>${run}</code>`}</li>`}`;
}
