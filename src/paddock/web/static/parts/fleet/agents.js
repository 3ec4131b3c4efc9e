// Agents over time, and what held them back.

import {html, useMemo} from "../../lib/ui.js";
import {Bands, Chart} from "../chart.js";
import {hours, past, showHours} from "./past.js";

const HOURS = [[6, "6h"], [24, "24h"], [168, "7d"]];
const SERIES = [{label: "running", of: "running", fill: true}, {label: "limit", of: "ink", dash: true, stepped: true}];
const LIMITS = {
  cap: "cap", load: "machine: load", memory: "machine: memory", disk: "machine: disk", merge_queue: "merge queue",
  breaker: "engine stopped", auth: "credentials", window: "quota window", overload: "provider overloaded",
  per_minute: "throttled", quota: "quota", pacing: "starts spaced out", budget: "budget",
  group: "group", group_budget: "the group's day", turn: "another's turn",
};
const COLOURS = {cap: "plain", load: "ready", memory: "ready", disk: "ready", merge_queue: "queued"};

export function Agents({fleet}) {
  const data = useMemo(() => columnsOf(past.value), [past.value]);
  const {running, most, cap} = fleet.agents;
  const isOld = fleet.daemon !== "running" && running > 0;
  return html`<section class="panel">
    <header><h2>Agents, and what held them back</h2>
      <span class="dim">${running} ${isOld ? "when last seen" : "running"}
        ${most != null && most !== cap ? `, ${most} could` : ""}</span>
      <span class="end"><span class="seg" role="group" aria-label="Time shown">${HOURS.map(([value, words]) =>
        html`<button type="button" aria-pressed=${hours.value === value ? "true" : "false"}
          onClick=${() => showHours(value)}>${words}</button>`)}</span></span></header>
    <div class="in">${data ? html`<${Hours} data=${data} />`
      : html`<p class="blank dim">${past.value
        ? "No daemon was running in these hours. The picture begins when one does."
        : "Asking for the hours so far…"}</p>`}</div>
  </section>`;
}

function Hours({data}) {
  return html`<${Chart} data=${data.plot} series=${SERIES} height=${230} label=${data.label} />
    <${Bands} times=${data.times} values=${data.bound} words=${wordsOf} classes=${colourOf} label=${data.held} />
    <p class="chart-keys dim">
      <span class="st running"><svg width="18" height="10" aria-hidden="true">
        <path d="M0 5H18" class="linec" /></svg>running</span>
      <span class="st"><svg width="18" height="10" aria-hidden="true">
        <path d="M0 5H18" stroke="currentColor" class="dash" /></svg>the most that could run</span>
      ${data.kinds.map((kind) => html`<span class=${`st ${colourOf(kind)}`}><svg width="10" height="10"
        aria-hidden="true"><rect width="10" height="10" rx="2" class="fillc" /></svg>${wordsOf(kind)}</span>`)}</p>`;
}

function columnsOf(series) {
  if (!series || !series.running.some((value) => value != null)) return null;
  const {at, running, most, bound} = series;
  const kinds = [...new Set(bound.filter(Boolean))];
  const highest = Math.max(...running.filter((value) => value != null));
  const held = kinds.length ? `held back by ${kinds.map(wordsOf).join(", ")}` : "nothing held tasks back";
  return {plot: [at, running, most], times: at, bound, kinds, held,
    label: `Agents over time, ${highest} at most; ${held}`};
}

function wordsOf(kind) {
  return LIMITS[kind] ?? kind;
}

function colourOf(kind) {
  return COLOURS[kind] ?? "blocked";
}
