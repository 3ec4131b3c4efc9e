// What a verdict on a batch is shown with: its word, what differs most, and what is listed one by one.

import {html} from "../../lib/ui.js";
import {State} from "../badge.js";
import {Bar} from "../bar.js";
import {Attempt} from "./told.js";

const VERDICTS = {drift: ["failed", "failed", "drift"], none: ["landed", "check", "no drift"]};
const UNDECIDED = ["waiting", "waiting", "too little data"];
const CASES_SHOWN = 6;
const FLEET = "fleet";

/** Its colour, its icon and its words. */
export function verdictOf(name) {
  return VERDICTS[name] ?? UNDECIDED;
}

export function Edges({edges}) {
  const most = Math.max(...edges.map(({share}) => share), 0.01);
  return html`<div class="tw"><table class="mid">
    <thead><tr><th>step to step</th><th class="num">before</th><th class="num">now</th>
      <th><span class="hide">share</span></th><th class="num">of the difference</th></tr></thead>
    <tbody>${edges.map(({first, then, baseline, batch, share}) => html`<tr key=${`${first} ${then}`}>
      <td class="mono nowrap">${first} → ${then}</td><td class="num">${percent(baseline)}</td>
      <td class="num">${percent(batch)}</td>
      <td class="share"><${Bar} parts=${[{of: "failed", value: share}]} most=${most} label=${percent(share)} /></td>
      <td class="num">${percent(share)}</td></tr>`)}</tbody></table></div>`;
}

/** Activities that one side has in more of its runs, or as more of its steps. */
export function Habits({habits}) {
  return html`<div class="tw"><table class="mid">
    <thead><tr><th>what is done</th><th class="num">before</th><th class="num">now</th></tr></thead>
    <tbody>${habits.map(({activity, of, baseline, batch}) => html`<tr key=${activity}>
      <td class="nowrap"><span class="mono">${activity}</span> <span class="dim">of ${of}</span></td>
      <td class="num">${percent(baseline)}</td><td class="num">${percent(batch)}</td></tr>`)}</tbody></table></div>`;
}

/** `label` is the batch that the runs are of. */
export function Cases({cases, label = FLEET}) {
  if (!cases.length) return null;
  const command = `paddock drift --all${label === FLEET ? "" : " --batch … --baseline …"}`;
  return html`<ul class="said-so">
    ${cases.slice(0, CASES_SHOWN).map(({rule, run, evidence}, index) => html`<li key=${index}>
      <${State} of="blocked" words=${rule} /> <${Attempt} name=${label === FLEET ? run : `${label}/${run}`} />
      ${" "}<span class="mono">${evidence}</span></li>`)}
    ${cases.length > CASES_SHOWN && html`<li class="dim">
      ${`and ${cases.length - CASES_SHOWN} more: `}<code>${command}</code></li>`}</ul>`;
}

export function percent(share) {
  return `${share > 0 && share < 0.005 ? "<1" : Math.round(share * 100)} %`;
}
