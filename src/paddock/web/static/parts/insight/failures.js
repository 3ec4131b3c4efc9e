// Why things fail: clusters with their cause, what says so, and what was done about them.

import {html} from "../../lib/ui.js";
import {grouped, plural} from "../../lib/format.js";
import {State} from "../badge.js";
import {Spark} from "../bar.js";
import {Attempt, Attempts, Panel} from "./told.js";

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

/** `told` is what `useTold` gives of `insight/failures`. */
export function Failures({told, spanWords}) {
  const part = told.data?.failures;
  return html`<${Panel} title="Why things fail" told=${told} end=${part ? sum(part) : ""}
    draw=${() => (part.top.length
      ? html`${part.top.map((card) => html`<${Card} key=${card.id} card=${card} spanWords=${spanWords} />`)}
        ${part.clusters > part.top.length && html`<p class="fyi">${plural(part.clusters - part.top.length,
          "smaller cluster")}: <code>paddock failures</code></p>`}`
      : html`<div class="in"><p class="dim">${part.runs ? "No attempt failed in this time."
        : "Too little data: no attempt has ended in this time."}</p></div>`)} />`;
}

function sum({failed, runs, clusters, causes, cut}) {
  const unknown = causes.find(({cause}) => cause === "unknown")?.runs ?? 0;
  const words = `${grouped(failed)} of ${grouped(runs)} attempts, in ${plural(clusters, "cluster")}`;
  return `${words}${unknown ? `, ${grouped(unknown)} unknown` : ""}${cut ? ", the latest only" : ""}`;
}

function Card({card, spanWords}) {
  const [state, icon] = CAUSES[card.cause] ?? ["plain", "ask"];
  const where = [plural(card.tasks, "task"), card.engine, card.host && `host ${card.host}`,
    card.account && `account ${card.account}`, card.resource].filter(Boolean).join(", ");
  return html`<div class="cluster"><b>${grouped(card.count)}×</b>
    <div><div class="sym">${card.symptom}</div><div class="dim">${where}</div><${Evidence} card=${card} /></div>
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

function Evidence({card: {evidence, symptom, runs, count}}) {
  const lines = evidence.filter(({line}) => line !== symptom);
  return html`<details class="grounds"><summary><svg class="i" aria-hidden="true"><use href="#chev" /></svg>
    ${plural(count, "attempt")} and what says so</summary>
    ${lines.length > 0 && html`<ul class="said-so">${lines.map(({line, run}, index) => html`<li key=${index}>
      <span class=${run ? "mono" : ""}>${line}</span> ${run && html`<${Attempt} name=${run} />`}</li>`)}</ul>`}
    <${Attempts} names=${runs} count=${count} /></details>`;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
