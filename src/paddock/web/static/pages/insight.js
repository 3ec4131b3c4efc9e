// Insight: what work has cost and how it ended, in plain tables.

import {html, useEffect, useState} from "../lib/ui.js";
import {get} from "../lib/api.js";
import {grouped, money, plural} from "../lib/format.js";
import {documentOf} from "../lib/state.js";
import {Bar} from "../parts/bar.js";
import {State} from "../parts/badge.js";

const GROUPS = [["agent", "By agent"], ["engine", "By engine"], ["day", "By day"], ["convoy", "By convoy"]];
const OUTCOMES = ["landed", "noop", "failed", "blocked", "cancelled"];
const USEFUL = ["delivered", "unsaved", "noop"];
const ROWS = 14;

function Page() {
  const [seen, setSeen] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => { get("insight").then(setSeen, setProblem); }, []);
  const counts = documentOf("board").field("counts").value ?? {};
  return html`<main class="page">
    <div class="head"><div><h1>Insight</h1>${seen && html`<p class="lede">${seen.words}</p>`}</div></div>
    ${problem && html`<p class="bad" role="alert">${problem.message} <span class="dim">${problem.hint}</span></p>`}
    ${seen && (seen.costs.agent.total.turns === 0 ? html`<${Nothing} />` : html`<div class="two">
      <${Crew} rows=${seen.crew} /><${Engines} rows=${seen.engines} />
      ${GROUPS.map(([by, words]) => html`<${CostTable} key=${by} title=${words} by=${by} costs=${seen.costs[by]} />`)}
      <${Outcomes} counts=${counts} /></div>`)}
  </main>`;
}

const share = (part) => (part == null ? "" : `${Math.round(part * 100)} %`);

function Crew({rows}) {
  const most = Math.max(...rows.map((row) => row.per_landed_usd ?? 0), 0.01);
  return html`<section class="panel"><header><h2>Who lands what</h2><span class="end">${plural(rows.length, "agent")}</span></header>
    <div class="in tw"><table class="mid flat"><thead><tr><th>agent</th><th class="num">landed</th><th class="num">of tasks</th><th>cost of one</th><th><span class="hide">dollars</span></th></tr></thead>
      <tbody>${rows.slice(0, ROWS).map((row) => html`<tr><td class="cut">${row.agent ? `${row.agent} · ${row.engine}` : row.engine}</td><td class="num">${grouped(row.landed)}</td>
        <td class="num">${share(row.landed_share)}</td><td class="share">${row.per_landed_usd != null && html`<${Bar} parts=${[{of: "running", value: row.per_landed_usd}]} most=${most} label=${`${money(row.per_landed_usd)} for each that landed`} />`}</td>
        <td class="num">${row.per_landed_usd == null ? html`<span class="dim">unknown</span>` : money(row.per_landed_usd)}</td></tr>`)}</tbody></table>
      ${rows.length > ROWS && html`<p class="dim">${rows.length - ROWS} more</p>`}</div></section>`;
}

function Engines({rows}) {
  return html`<section class="panel"><header><h2>How attempts ended</h2></header>
    <div class="in tw"><table class="mid flat"><thead><tr><th>engine</th><th class="num">attempts</th><th class="num">useful</th><th>what the others did</th></tr></thead>
      <tbody>${rows.slice(0, ROWS).map((row) => html`<tr><td class="cut">${row.engine}</td><td class="num">${grouped(row.attempts)}</td><td class="num">${share(row.useful_share)}</td>
        <td class="cut">${othersOf(row.outcomes)}</td></tr>`)}</tbody></table></div></section>`;
}

function othersOf(outcomes) {
  const others = Object.entries(outcomes).filter(([outcome]) => !USEFUL.includes(outcome));
  return others.map(([outcome, count]) => `${grouped(count)} ${outcome.replaceAll("_", " ")}`).join(", ");
}

function CostTable({title, by, costs}) {
  const rows = sorted(costs.rows, by);
  const most = Math.max(...rows.map((row) => row.cost_usd ?? 0), 0.01);
  return html`<section class="panel"><header><h2>${title}</h2><span class="end">${plural(costs.rows.length, by)}</span></header>
    <div class="in tw"><table class="mid flat"><thead><tr><th>${by}</th><th><span class="hide">share</span></th><th class="num">cost</th><th class="num">turns</th><th class="num">tokens</th></tr></thead>
      <tbody>${rows.slice(0, ROWS).map((row) => html`<tr><td class="cut">${row[by]}</td>
        <td class="share"><${Bar} parts=${[{of: "ready", value: row.cost_usd ?? 0}]} most=${most} label=${`${row[by]}: ${money(row.cost_usd) || "unknown"}`} /></td>
        <td class="num">${row.cost_usd == null ? html`<span class="dim">unknown</span>` : money(row.cost_usd)}</td><td class="num">${grouped(row.turns)}</td>
        <td class="num">${grouped(row.input_tokens + row.output_tokens)}</td></tr>`)}</tbody></table>
      ${rows.length > ROWS && html`<p class="dim">${rows.length - ROWS} more: <code>paddock costs --by ${by}</code></p>`}</div></section>`;
}

function sorted(rows, by) {
  if (by === "day") return [...rows].sort((one, other) => (one.day < other.day ? 1 : -1));
  return [...rows].sort((one, other) => (other.cost_usd ?? -1) - (one.cost_usd ?? -1));
}

function Outcomes({counts}) {
  const most = Math.max(1, ...OUTCOMES.map((phase) => counts[phase] ?? 0));
  return html`<section class="panel"><header><h2>How tasks ended</h2></header><div class="in"><table class="mid flat"><tbody>
    ${OUTCOMES.map((phase) => html`<tr><td><a href=${`/?phase=${phase}`}><${State} of=${phase} /></a></td>
      <td class="share"><${Bar} parts=${[{of: phase, value: counts[phase] ?? 0}]} most=${most} label=${`${phase}: ${counts[phase] ?? 0}`} /></td>
      <td class="num">${grouped(counts[phase] ?? 0)}</td></tr>`)}</tbody></table></div></section>`;
}

function Nothing() {
  return html`<section class="panel blank"><h2>Nothing has been spent yet</h2>
    <p>When agents have worked, this page shows what it cost by agent, engine, day and convoy, and how the tasks ended.</p>
    <pre class="sh" tabindex="0"><i>$</i> paddock costs --by agent</pre></section>`;
}

export default {title: () => "Insight", view: () => null, Page};
