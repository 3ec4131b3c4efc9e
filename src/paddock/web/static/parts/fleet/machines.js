// The machine the daemon runs on, and every host that agents or CI runs are on.

import {html} from "../../lib/ui.js";
import {bytes, plural} from "../../lib/format.js";
import {Age} from "../age.js";
import {State} from "../badge.js";
import {Bar} from "../bar.js";
import {Trace} from "../chart.js";
import {past} from "./past.js";

const FULL_LOAD = 1.25;
const STATES = {
  well: {of: "landed", words: "well"},
  silent: {of: "blocked", words: "silent"},
  gone: {of: "failed", words: "gone"},
  idle: {of: "cancelled", words: "no daemon"},
  away: {of: "blocked", words: "out of reach"},
};

export function Machine({fleet}) {
  const {machine, worktrees} = fleet;
  return html`<section class="panel">
    <header><h2>Machine</h2><span class="end">${machine?.host}</span></header>
    <div class="in">
      ${machine ? html`<${Resources} machine=${machine} />`
        : html`<p class="dim">The daemon measures the machine: there are no figures yet.</p>`}
      <dl class="fact top-gap">
        <dt>worktrees</dt><dd>${worktrees?.total ? wordsOf(worktrees) : "none"}</dd>
        ${machine && html`<dt>measured</dt><dd><${Age} at=${machine.at} /> ago</dd>`}</dl></div>
  </section>`;
}

function wordsOf({total, in_use, warm, kept}) {
  return `${total}: ${in_use} in use, ${warm} ready for reuse${kept ? `, ${kept} kept for you` : ""}`;
}

function Resources({machine}) {
  const series = past.value;
  return html`<div class="host">
    <div><span>load</span><${Trace} values=${series?.busy ?? []} most=${FULL_LOAD} label="load over time" />
      <span>${(machine.busy * machine.cores).toFixed(1)} of ${plural(machine.cores, "core")}</span></div>
    <div><span>memory</span><${Trace} values=${series?.free_memory_bytes ?? []} label="free memory over time" />
      <span>${bytes(machine.free_memory_bytes)} free</span></div>
    <div><span>disk</span><${Trace} values=${series?.free_disk_bytes ?? []} label="free disk over time" />
      <span>${bytes(machine.free_disk_bytes)} free</span></div></div>`;
}

export function Nodes({fleet}) {
  const rows = [...fleet.nodes.values()].map((row) => row.value);
  const cap = fleet.daemon === "running" ? fleet.agents.cap : null;
  return html`<section class="panel">
    <header><h2>Nodes</h2><span class="end">${rows.length}</span></header>
    <div class="in tw">${rows.length
      ? html`<table class="mid"><tr><th>node</th><th>state</th><th>agents</th><th class="num">CI runs</th></tr>
          ${rows.map((row) => html`<${Node} key=${row.name} row=${row} cap=${cap} />`)}</table>`
      : html`<p class="dim">Neither a daemon nor agents nor CI runs on any machine. <code>paddock up</code></p>`}</div>
  </section>`;
}

function Node({row, cap}) {
  return html`<tr><td>${row.name}${row.here && ", here"}</td>
    <td><${State} ...${STATES[row.state] ?? {of: "plain", words: row.state}} /></td>
    <td><span class="meter"><${Bar} parts=${[{of: cap == null ? "plain" : "running", value: row.agents}]}
      most=${cap ?? row.agents} label=${`${row.agents} agents`} />
      <span class="num">${row.agents}${cap != null && ` of ${cap}`}</span></span></td>
    <td class="num">${row.runs}</td></tr>`;
}
