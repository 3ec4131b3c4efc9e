// Why things fail: clusters with their cause, what says so, and what was done about them.

import {html, useState} from "../../lib/ui.js";
import {grouped, plural} from "../../lib/format.js";
import {State} from "../badge.js";
import {Spark} from "../bar.js";
import {Batches} from "./paths.js";
import {Attempt, Attempts, Panel, useTold} from "./told.js";

/** The colour and the shape of each cause. */
const CAUSES = {
  "never-ran": ["failed", "stop"],
  "rate-limit": ["approval", "waiting"],
  overload: ["approval", "pause"],
  contention: ["running", "split"],
  saturation: ["queued", "fleet"],
  network: ["queued", "link"],
  dependency: ["blocked", "blocked"],
  task: ["ready", "edit"],
  model: ["reviewing", "reviewing"],
};
const SURE = 0.01;
const FLEET = "fleet";

/** Of the fleet, as `told` of `insight/failures`, or of a batch that was imported; `first` is the one shown unasked. */
export function Failures({told, spanWords, first = FLEET}) {
  const [label, setLabel] = useState(first);
  const labels = told.data?.labels ?? [];
  const choice = labels.some((one) => one !== FLEET) && html`<${Batches} labels=${labels} label=${label}
    words="Batch of failures" choose=${setLabel} />`;
  if (label === FLEET) return html`<${Clusters} told=${told} choice=${choice} spanWords=${spanWords} />`;
  return html`<${OfBatch} key=${label} label=${label} choice=${choice} />`;
}

function OfBatch({label, choice}) {
  return html`<${Clusters} told=${useTold("insight/failures", {label})} choice=${choice}
    spanWords="first to last" />`;
}

function Clusters({told, choice, spanWords}) {
  const part = told.data?.failures;
  const label = told.data?.label;
  return html`<${Panel} title="Why things fail" told=${told} end=${html`${part && sum(part)}${choice}`}
    draw=${() => (part.top.length
      ? html`${part.top.map((card) => html`<${Card} key=${card.id} card=${card} label=${label}
          spanWords=${spanWords} />`)}
        ${part.clusters > part.top.length && html`<p class="fyi">${plural(part.clusters - part.top.length,
          "smaller cluster")}: <code>paddock failures${label === FLEET ? "" : " --label …"}</code></p>`}`
      : html`<div class="in"><p class="dim">${part.runs ? "No attempt failed in this time."
        : "Too little data: no attempt has ended in this time."}</p></div>`)} />`;
}

function sum({failed, runs, clusters, causes, cut}) {
  const unknown = causes.find(({cause}) => cause === "unknown")?.runs ?? 0;
  const words = `${grouped(failed)} of ${grouped(runs)} attempts, in ${plural(clusters, "cluster")}`;
  return `${words}${unknown ? `, ${grouped(unknown)} unknown` : ""}${cut ? ", the latest only" : ""}`;
}

function Card({card, label, spanWords}) {
  const [state, icon] = CAUSES[card.cause] ?? ["plain", "ask"];
  const where = [plural(card.tasks, "task"), card.engine, card.host && `host ${card.host}`,
    card.account && `account ${card.account}`, card.resource].filter(Boolean).join(", ");
  return html`<div class="cluster"><b>${grouped(card.count)}×</b>
    <div><div class="sym">${card.symptom}</div><div class="dim">${where}</div>
      <${Evidence} card=${card} label=${label} /></div>
    <div><${State} of=${state} icon=${icon} words=${card.cause.replaceAll("-", " ")} />
      <div class="soft">${reason(card)}</div>
      <div class="ev">${chips(card.measures).map((words) => html`
        <span key=${words} class="chip">${words}</span>`)}</div></div>
    <div><${Spark} values=${card.times} of=${state} /><span class="dim">${spanWords}</span></div>
    <div class="acts">${card.done.map((words) => html`<span key=${words}>${words}</span>`)}
      ${card.next.slice(0, 1).map((words) => html`<span key=${words} class="dim">next: <code>${words}</code>
        </span>`)}</div></div>`;
}

function reason({title, tied}) {
  if (tied.length) return `The evidence cannot tell ${tied.join(" and ")} apart.`;
  return title ? `${title[0].toUpperCase()}${title.slice(1)}.` : "";
}

function chips({recurrence, burst, groups, all_but_one: allButOne, backoff, lifts}) {
  const words = [];
  if (recurrence != null) words.push(`again on same task ${percent(recurrence)}`);
  if (allButOne) words.push(`all but one in ${allButOne} of ${groups} groups`);
  if (backoff) words.push(`${percent(backoff)} of the time waiting`);
  for (const {facet, value, lift, p} of lifts.slice(0, 2)) {
    if (p < SURE) words.push(`${facet} ${value}: ${lift.toFixed(1)} times as often`);
  }
  if (burst >= 3) words.push(`together in time: ×${Math.round(burst)}`);
  return words;
}

function Evidence({card: {evidence, symptom, runs, count}, label}) {
  const named = (run) => (label === FLEET ? run : `${label}/${run}`);
  const lines = evidence.filter(({line}) => line !== symptom);
  return html`<details class="grounds"><summary><svg class="i" aria-hidden="true"><use href="#chev" /></svg>
    ${plural(count, "attempt")} and what says so</summary>
    ${lines.length > 0 && html`<ul class="said-so">${lines.map(({line, run}, index) => html`<li key=${index}>
      <span class=${run ? "mono" : ""}>${line}</span> ${run && html`<${Attempt} name=${named(run)} />`}</li>`)}</ul>`}
    <${Attempts} names=${runs.map(named)} count=${count} /></details>`;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
