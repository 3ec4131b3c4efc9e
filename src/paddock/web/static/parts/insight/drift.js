// Did an agent change? The fleet's last batches of attempts, each against those before it.

import {html} from "../../lib/ui.js";
import {dayAndTime, plural} from "../../lib/format.js";
import {State} from "../badge.js";
import {Bar} from "../bar.js";
import {Attempt, Attempts, Panel, useTold} from "./told.js";

const VERDICTS = {drift: ["failed", "failed", "drift"], none: ["landed", "check", "no drift"]};
const UNDECIDED = ["waiting", "waiting", "too little data"];
const CASES_SHOWN = 6;

export function Drift({since}) {
  const told = useTold("insight/drift", {since});
  const drifted = told.data?.drift.drifted;
  const end = drifted ? html`<span class="chip c failed">${plural(drifted, "batch", "batches")}</span>` : "";
  return html`<${Panel} title="Did an agent change?" told=${told} end=${end}
    draw=${({drift}) => html`<div class="in"><${Body} drift=${drift} /></div>`} />`;
}

function Body({drift: {batches, problem, self_test: selfTest}}) {
  if (problem) return html`<p class="dim">${problem}</p>`;
  if (!batches.length) {
    return html`<p class="dim">Too little data: no batch of attempts was completed in this time. A batch is twenty
      attempts, or those of a day.</p>`;
  }
  return html`${batches.map((batch, index) => html`<${Batch} key=${batch.name} batch=${batch} open=${!index} />`)}
    <p class="dim top-gap">${selfTest ? selfTestWords(selfTest)
      : "Self-test: too few attempts before these to divide."}</p>`;
}

function selfTestWords({splits, alarms, high, sound}) {
  const verdict = sound ? `as it should be: up to ${Math.round(high * 100)} % is chance` : "more than chance explains";
  return `Self-test, one setting split at random: ${plural(alarms, "alarm")} in ${splits}, ${verdict}.`;
}

function Batch({batch, open}) {
  const [state, icon, words] = VERDICTS[batch.verdict] ?? UNDECIDED;
  return html`<details class="grounds batch" open=${open && batch.verdict === "drift"}>
    <summary><svg class="i" aria-hidden="true"><use href="#chev" /></svg>
      <${State} of=${state} icon=${icon} words=${words} /><span>${batch.name}</span>
      <span class="dim">${batch.ended && dayAndTime(batch.ended).slice(0, 16)}</span></summary>
    <p class="dim">${batch.count} attempts against ${batch.baseline} before them, ${batch.pairs} pairs${
      batch.missing_pairs ? `; ${batch.missing_pairs} more would be needed` : ""}</p>
    ${batch.tests.map((test) => html`<p key=${test.name}>${testWords(test)}</p>`)}
    ${batch.edges.length > 0 && html`<${Edges} edges=${batch.edges} />`}
    ${batch.typical && html`<p class="dim">Typical of it <${Attempt} name=${batch.typical} />, farthest from those
      before <${Attempt} name=${batch.odd} /></p>`}
    <${Cases} cases=${batch.hard_cases} />
    <${Attempts} names=${batch.runs} count=${batch.count} /></details>`;
}

function testWords({name, batch, baseline, effect, q}) {
  const sides = batch == null || baseline == null ? "" : `${figure(baseline)} before, ${figure(batch)} now, `;
  return `${name}: ${sides}effect ${effect > 0 ? "+" : ""}${figure(effect)}, q = ${figure(q)}`;
}

function figure(number) {
  return Number(number.toPrecision(2)).toString();
}

function Edges({edges}) {
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

function Cases({cases}) {
  if (!cases.length) return null;
  return html`<ul class="said-so">
    ${cases.slice(0, CASES_SHOWN).map(({rule, run, evidence}, index) => html`<li key=${index}>
      <${State} of="blocked" words=${rule} /> <${Attempt} name=${run} /> <span class="mono">${evidence}</span></li>`)}
    ${cases.length > CASES_SHOWN && html`<li class="dim">and ${cases.length - CASES_SHOWN} more:
      <code>paddock drift</code></li>`}</ul>`;
}

function percent(share) {
  return `${share > 0 && share < 0.005 ? "<1" : Math.round(share * 100)} %`;
}
