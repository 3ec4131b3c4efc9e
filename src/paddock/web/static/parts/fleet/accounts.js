// The accounts that agents draw on: their quotas, when these reset, and what a person has to do.

import {html} from "../../lib/ui.js";
import {clock, plural, timeOfDay} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {State} from "../badge.js";
import {Bar} from "../bar.js";

const STATES = {
  binds: {of: "blocked", icon: "blocked", words: "holds agents back"},
  room: {of: "landed", icon: "landed", words: "has room"},
  paused: {of: "blocked", icon: "pause", words: "paused"},
  refused: {of: "failed", icon: "failed", words: "credentials refused"},
};
const FAR_MILLISECONDS = 20 * 3600 * 1000;

export function Accounts({fleet}) {
  const names = [...fleet.accounts.keys()];
  return html`<section class="panel">
    <header><h2>Provider clocks</h2><span class="end">${plural(names.length, "account")}</span></header>
    <div class="in">${names.length
      ? names.map((name) => html`<${Account} key=${name} row=${fleet.accounts.get(name).value} />`)
      : html`<p class="dim">No provider has told of its limits yet. <code>paddock engines check</code> says which
        engines are ready.</p>`}
    </div>
  </section>`;
}

function Account({row}) {
  const {name, agents, bears, state, windows, words, until, run} = row;
  const isKnown = bears != null && state !== "refused";
  return html`<div class="clock">
    <div class="l"><b class="strong">${name}</b>
      <span class="dim">${isKnown ? `${agents} of ${plural(bears, "agent")}` : plural(agents, "agent")}</span>
      <span class="end"><${State} ...${STATES[state] ?? STATES.room} /></span></div>
    ${windows.map((one) => html`<${QuotaWindow} key=${one.name + one.words} row=${one} />`)}
    ${(!windows.length || state !== "room") && html`<span class="dim">${words}
      ${until && state === "paused" && `, until ${timeOfDay(until)}`}${run && html`. <code>${run}</code>`}</span>`}
    ${(state === "refused" || run) && html`<span><button type="button" class="b"
      onClick=${() => request("limits/reset", {name}, {done: `${name}: in use again`})}>Use it again</button></span>`}
  </div>`;
}

function QuotaWindow({row}) {
  const {name, used, resets, words} = row;
  const share = `${Math.round(used * 100)} %`;
  return html`<div class="m"><span>${name}</span>
    ${used ? html`<${Bar} parts=${[{of: used >= 0.8 ? "blocked" : "ready", value: used}]} most=${1}
      label=${`${name}: ${share}`} />` : html`<span></span>`}
    <span>${used ? share : ""}${resets ? `, resets ${momentOf(resets)}` : words ? ` ${words}` : ""}</span></div>`;
}

/** With the day of the week, where it is not about today. */
function momentOf(iso) {
  const isFar = Date.parse(iso) - clock.peek() > FAR_MILLISECONDS;
  const day = new Date(iso).toLocaleDateString("en-GB", {weekday: "short"});
  return isFar ? `${day} ${timeOfDay(iso)}` : timeOfDay(iso);
}
