// Insight: where work gets lost, why things fail, whether an agent has changed, and what a landed change costs.

import {Fragment, html, signal} from "../lib/ui.js";
import {plural} from "../lib/format.js";
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
import {Problem, Words} from "../parts/words.js";

const SPANS = {"24h": "24 hours", "7d": "seven days", "30d": "30 days", all: "all of the log"};
const span = signal("7d");
/** A cluster with so much of all failures is told first. */
const MUCH = 0.2;

function Page() {
  const {data: found, problem} = useTold("insight");
  const hasWork = found?.costs.agent.total.turns > 0;
  return html`<main class="page">
    ${hasWork ? html`<${Whole} found=${found} since=${span.value} />`
      : html`<div class="head"><div><h1>Insight</h1>${found && html`<p class="lede"><${Words} text=${found.words} />
        </p>`}</div></div>${found && html`<${WithoutWork} />`}`}
    ${problem && html`<p class="bad" role="alert"><${Problem} of=${problem} /></p>`}
  </main>`;
}

function Whole({found, since}) {
  const failures = useTold("insight/failures", {since});
  const drift = useTold("insight/drift", {since});
  return html`<${Fragment}><div class="head"><div><h1>Insight</h1><p class="lede"><b class="strong">
      <${Words} text=${found.words} /></b> ${troubleWords(failures.data?.failures, drift.data?.drift)}</p></div>
      <div class="acts"><${SpanChoice} /></div></div>
    <div class="stack">
      <${Alerts} />
      <${Ways} since=${since} />
      <${Failures} told=${failures} spanWords=${SPANS[since]} />
      <div class="f2 even"><${Drift} told=${drift} /><${LandedCost} since=${since} /></div>
      <${Paths} since=${since} />
      <${Work} since=${since} />
      <${Schedules} />
      <${Tables} found=${found} />
      <p class="hints">The same as a page to keep or to send: <code>paddock report -o week.html</code></p>
    </div></${Fragment}>`;
}

/** What would do if the rest failed to load. */
function troubleWords(failures, drift) {
  const words = [];
  const largest = failures?.top[0];
  if (largest?.count > 1 && largest.count / failures.failed >= MUCH) {
    const why = largest.cause === "unknown" ? "are alike, and nothing tells why" : `have one cause: ${
      largest.cause.replaceAll("-", " ")}`;
    words.push(`${Math.round((largest.count / failures.failed) * 100)} % of the failures ${why}.`);
  }
  if (drift?.drifted) {
    words.push(`In ${plural(drift.drifted, "batch", "batches")} of attempts, agents behaved differently than before.`);
  }
  return words.join(" ");
}

function SpanChoice() {
  return html`<span class="seg" role="group" aria-label="Time shown">${Object.entries(SPANS).map(([name, words]) =>
    html`<button type="button" key=${name} title=${words} aria-pressed=${span.value === name ? "true" : "false"}
      onClick=${() => { span.value = name; }}>${name}</button>`)}</span>`;
}

/** There may be runs of agents that Paddock did not start. */
function WithoutWork() {
  const {data} = useTold("traces/labels");
  const failures = useTold("insight/failures", {since: "all"});
  const drift = useTold("insight/drift", {since: "all"});
  return html`<${Nothing} />${data?.labels.length > 0 && html`<div class="stack gap-top">
    <${Paths} since="all" />
    <${Failures} told=${failures} spanWords=${SPANS.all} first=${data.labels[0].label} />
    <${Drift} told=${drift} /></div>`}`;
}

function Nothing() {
  return html`<section class="panel blank"><h2>No agent has worked yet</h2>
    <p>Later this page shows the ways that work takes, why things fail, whether an agent has changed, and what a landed
      change costs.</p>
    <pre class="sh" tabindex="0"><i>$</i> paddock up</pre></section>`;
}

export default {title: () => "Insight", view: () => null, Page};
