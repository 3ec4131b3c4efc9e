// Insight: where work gets lost, why things fail, whether an agent has changed, and what a landed change costs.

import {html, signal} from "../lib/ui.js";
import {Alerts} from "../parts/insight/alerts.js";
import {Drift} from "../parts/insight/drift.js";
import {Failures} from "../parts/insight/failures.js";
import {LandedCost} from "../parts/insight/landed-cost.js";
import {Paths} from "../parts/insight/paths.js";
import {Schedules} from "../parts/insight/schedules.js";
import {Tables} from "../parts/insight/tables.js";
import {useTold} from "../parts/insight/told.js";
import {Ways} from "../parts/insight/ways.js";
import {Work} from "../parts/insight/work.js";
import {Words} from "../parts/words.js";

const SPANS = {"24h": "24 hours", "7d": "seven days", "30d": "30 days", all: "all of the log"};
const span = signal("7d");

function Page() {
  const {data: found, problem} = useTold("insight");
  const hasWork = found?.costs.agent.total.turns > 0;
  return html`<main class="page">
    <div class="head"><div><h1>Insight</h1>${found && html`<p class="lede"><${Words} text=${found.words} /></p>`}</div>
      ${hasWork && html`<div class="acts"><${SpanChoice} /></div>`}</div>
    ${problem && html`<p class="bad" role="alert">${problem.message} <span class="dim">${problem.hint}</span></p>`}
    ${found && (hasWork ? html`<${Panels} found=${found} since=${span.value} />` : html`<${WithoutWork} />`)}
  </main>`;
}

function SpanChoice() {
  return html`<span class="seg" role="group" aria-label="Time shown">${Object.entries(SPANS).map(([name, words]) =>
    html`<button type="button" key=${name} title=${words} aria-pressed=${span.value === name ? "true" : "false"}
      onClick=${() => { span.value = name; }}>${name}</button>`)}</span>`;
}

function Panels({found, since}) {
  return html`<div class="stack">
    <${Alerts} />
    <${Ways} since=${since} />
    <${Failures} since=${since} spanWords=${SPANS[since]} />
    <div class="f2 even"><${Drift} since=${since} /><${LandedCost} since=${since} /></div>
    <${Paths} since=${since} />
    <${Work} since=${since} />
    <${Schedules} />
    <${Tables} found=${found} />
    <p class="hints">The same as a page to keep or to send: <code>paddock report -o week.html</code></p>
  </div>`;
}

/** There may be runs of agents that Paddock did not start. */
function WithoutWork() {
  const {data} = useTold("traces/labels");
  return html`<${Nothing} />${data?.labels.length > 0 && html`<div class="stack gap-top">
    <${Paths} since="all" /><${Drift} since="all" /></div>`}`;
}

function Nothing() {
  return html`<section class="panel blank"><h2>No agent has worked yet</h2>
    <p>Later this page shows the ways that work takes, why things fail, whether an agent has changed, and what a landed
      change costs.</p>
    <pre class="sh" tabindex="0"><i>$</i> paddock up</pre></section>`;
}

export default {title: () => "Insight", view: () => null, Page};
