// The plan that a task has made: its tasks as a tree, with what they may take, to accept or to drop.

import {Fragment, html, useEffect, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {duration, money, plural, someOf} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {convoyPath} from "../../lib/route.js";
import {session} from "../../lib/session.js";
import {askForText} from "../ask.js";
import {Icon} from "../badge.js";

export function Plan({id, page}) {
  const [told, setTold] = useState({seq: 0, plan: null, problem: ""});
  useEffect(() => {
    if (!page.plan) return undefined;
    let isGone = false;
    get(`tasks/${id}/plan`).then((plan) => { if (!isGone) setTold({seq: page.plan, plan, problem: ""}); },
      (error) => { if (!isGone) setTold({seq: page.plan, plan: null, problem: error.message}); });
    return () => { isGone = true; };
  }, [id, page.plan, page.plan_waits]);
  const {plan, problem} = told;
  const waits = page.plan_waits && plan && plan.seq === page.plan;
  return html`<section class="panel plan" aria-label="Plan"><header><h2>Plan</h2>
    ${plan && html`<span class="dim">${plural(plan.tasks.length, "task")} in ${plan.joins ? "the" : "a new"} convoy
      ${plan.joins ? html` <a href=${convoyPath(plan.convoy)}>${plan.convoy}</a>` : ` ${plan.convoy}`}</span>`}
    ${waits && !session.value?.read_only && html`<span class="end acts">
      <button type="button" class="b main" onClick=${() => accept(id, plan)}>Accept</button>
      <button type="button" class="b" onClick=${() => drop(id, plan)}>Drop</button></span>`}</header>
    ${!page.plan && html`<p class="fyi dim">It has made no plan yet. Nothing it changes is kept.</p>`}
    ${problem && html`<p class="fyi warn">${problem}</p>
      ${page.answer && html`<pre class="raw answer isolate">${page.answer}</pre>`}`}
    ${plan && html`<${Shown} plan=${plan} />`}</section>`;
}

function Shown({plan}) {
  const {forecast} = plan;
  const costs = !forecast.usd_p90 ? "" : `, about ${money(forecast.usd_p50)}, 9 in 10 below
    ${money(forecast.usd_p90)}`;
  return html`<div class="in">
    ${plan.title && html`<p class="words strong">${plan.title}</p>`}
    ${plan.decided && html`<p class="dim">${plan.decided}</p>`}
    <p class="soft">About ${duration(forecast.wall_seconds)} with
      ${` ${plural(forecast.agents, "agent")}`} at once${costs}.</p>
    <${Branch} tasks=${treeOf(plan.tasks)} />
    ${plan.added.map((one) => html`<p class="dim isolate" key=${`${one.task} ${one.after}`}>
      <code>${one.task}</code> waits for <code>${one.after}</code>: both may change <code>${one.path}</code></p>`)}
    ${plan.overlaps.map((one) => html`<p class="warn isolate" key=${`${one.task} ${one.other}`}>${one.other
      ? html`<code>${one.task}</code> and <code>${one.other}</code> may both change <code>${one.path}</code>`
      : html`<code>${one.task}</code> names no paths, so it may touch what any other does`}</p>`)}
    ${plan.notes && html`<p class="words gap-top">${plan.notes}</p>`}
    ${plan.risks.length > 0 && html`<${Fragment}><p class="dim gap-top">What may go wrong</p>
      <ul>${plan.risks.map((words) => html`<li class="words" key=${words}>${words}</li>`)}</ul></${Fragment}>`}
  </div>`;
}

function Branch({tasks}) {
  if (!tasks.length) return null;
  return html`<ul class="tree">${tasks.map(({task, below}) => html`<li key=${task.key}><${Planned} task=${task} />
    <${Branch} tasks=${below} /></li>`)}</ul>`;
}

function Planned({task}) {
  const facts = [task.agent ?? task.engine, task.size, task.kind, task.after.length && `after ${someOf(task.after)}`,
    task.accept && "has acceptance"].filter(Boolean).join(" · ");
  return html`<details class="grounds"><summary><${Icon} name="chev" />
    <code>${task.key}</code><span class="isolate">${task.title}</span>
    <span class="dim isolate">${facts}</span>
    ${task.paths.length > 0 && html`<span class="mono dim isolate">${task.paths.join(", ")}</span>`}</summary>
    <pre class="raw small">${task.brief}</pre></details>`;
}

/** Each below the last that it waits for, in the order of the plan. */
function treeOf(tasks) {
  const known = new Map(tasks.map((task, place) => [task.key, {task, place, below: []}]));
  const first = [];
  for (const one of known.values()) {
    const awaited = one.task.after.flatMap((key) => known.get(key) ?? []);
    const last = awaited.reduce((found, other) => (found && found.place > other.place ? found : other), null);
    (last?.below ?? first).push(one);
  }
  return first;
}

function accept(id, plan) {
  return request(`tasks/${id}/plan/accept`, {seq: plan.seq},
    {done: `${plural(plan.tasks.length, "task")} added to ${plan.convoy}`, about: `Plan of ${id}`});
}

async function drop(id, plan) {
  const message = await askForText({title: `Drop the plan of ${id}`, label: "Why? Nothing is added", send: "Drop"});
  if (message === null) return;
  await request(`tasks/${id}/plan/drop`, {seq: plan.seq, message}, {done: `plan of ${id} dropped`,
    about: `Plan of ${id}`});
}
