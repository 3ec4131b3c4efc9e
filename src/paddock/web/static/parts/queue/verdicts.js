// What was decided of late, and what the queue has learnt from it.

import {html, useSignal} from "../../lib/ui.js";
import {countdown, grouped, plural, timeOfDay} from "../../lib/format.js";
import {State} from "../badge.js";
import {ChangeId} from "../change-id.js";
import {Words} from "../words.js";
import {openRunLog} from "./run-log.js";

const FIRST_SHOWN = 10;
/** The state whose colour and icon an outcome has. */
const STATES = {
  landed: "landed", failed: "failed", rejected: "failed", conflict: "blocked", moved: "blocked", cancelled: "cancelled",
  flake: "noop", noop: "noop", lost: "noop",
};

export function Verdicts({queue}) {
  const {landed, rejected, flakes} = queue.today;
  const isWhole = useSignal(false);
  const shown = isWhole.value ? queue.verdicts : queue.verdicts.slice(0, FIRST_SHOWN);
  return html`<section class="panel">
    <header><h2>Verdicts</h2>
      <span class="end">${landed} landed, ${rejected} rejected, ${plural(flakes, "flake")} today</span></header>
    <div class="in tw">
      ${shown.length
        ? html`<table class="flat verdicts">${shown.map((row) =>
          html`<${Verdict} key=${row.seq} row=${row} />`)}</table>`
        : html`<p class="dim">Nothing was decided in the last day.</p>`}
      ${queue.verdicts.length > shown.length && html`<button type="button" class="more"
        onClick=${() => { isWhole.value = true; }}>${queue.verdicts.length - shown.length} more</button>`}</div>
  </section>`;
}

function Verdict({row}) {
  const of = STATES[row.outcome] ?? "plain";
  const name = row.change ?? row.run ?? "main";
  return html`<tr>
    <td class="nowrap dim">${timeOfDay(row.at)}</td>
    <td><${State} of=${of} icon=${STATES[row.outcome] ?? "noop"}
      words=${row.outcome === "noop" ? "no-op" : row.outcome} /></td>
    <td><${ChangeId} id=${name} /></td>
    <td class="soft words"><${Words} text=${row.words} /></td>
    <td class="num">${row.run && html`<button type="button" class="b bare" aria-label=${`CI log of ${row.run}`}
      onClick=${() => openRunLog(row.run)}>log</button>`}</td>
  </tr>`;
}

export function Learnt({queue}) {
  const learnt = queue.learnt;
  const figures = [
    [runTime(learnt.run_seconds), "one CI run, T"],
    [`${learnt.slots_real} of ${queue.slots}`, "slots worth using"],
    [percent(learnt.bad_share), "of changes bad alone, p̂"],
    [percent(learnt.clash_share), "clash with another, q̂"],
    [percent(learnt.flake_share), "of runs fail for nothing, f̂"],
    learnt.runs_per_landed == null ? [grouped(learnt.failures_to_reject), "failures reject a change"]
      : [learnt.runs_per_landed.toFixed(2), "runs per landed change"],
  ];
  return html`<section class="panel">
    <header><h2>What it has learnt</h2><span class="end">${learnt.samples
      ? `from ${plural(learnt.samples, "run")} that passed` : "no run has passed yet: assumed"}</span></header>
    <div class="est">${figures.map(([figure, words]) => html`<div><b>${figure}</b>${words}</div>`)}</div>
  </section>`;
}

function runTime(seconds) {
  if (seconds == null) return "unknown";
  return seconds < 10 ? `${seconds.toFixed(1)}s` : countdown(seconds);
}

function percent(share) {
  const value = share * 100;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}
