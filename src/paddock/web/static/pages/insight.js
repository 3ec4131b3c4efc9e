// Insight: what work has cost and how it ended, in plain tables.

import {html, useEffect, useState} from "../lib/ui.js";
import {get} from "../lib/api.js";
import {grouped, money, plural} from "../lib/format.js";
import {documentOf} from "../lib/state.js";
import {Bar} from "../parts/bar.js";
import {State} from "../parts/badge.js";

const GROUPS = [["agent", "By agent"], ["engine", "By engine"], ["day", "By day"], ["convoy", "By convoy"]];
const OUTCOMES = ["landed", "noop", "failed", "blocked", "cancelled"];
const ROWS = 14;

function Page() {
  const [costs, setCosts] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => { loadCosts().then(setCosts, setProblem); }, []);
  const counts = documentOf("board").field("counts").value ?? {};
  const total = costs?.agent.total;
  return html`<main class="page">
    <div class="head"><div><h1>Insight</h1>${costs && html`<p class="lede"><${Opening} costs=${costs.agent} counts=${counts} /></p>`}</div></div>
    ${problem && html`<p class="bad" role="alert">${problem.message} <span class="dim">${problem.hint}</span></p>`}
    ${total && total.turns === 0 ? html`<${Nothing} />` : costs && html`<div class="two">
      ${GROUPS.map(([by, words]) => html`<${CostTable} key=${by} title=${words} by=${by} costs=${costs[by]} />`)}
      <${Outcomes} counts=${counts} /></div>`}
  </main>`;
}

async function loadCosts() {
  const found = await Promise.all(GROUPS.map(([by]) => get("costs", {by})));
  return Object.fromEntries(GROUPS.map(([by], index) => [by, found[index]]));
}

function Opening({costs, counts}) {
  const {landed, per_landed_usd, total} = costs;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const each = per_landed_usd == null ? "" : ` at ${money(per_landed_usd)} a change`;
  const unknown = total.unpriced_turns + total.unknown_turns;
  return html`<b>${grouped(landed)} of ${plural(all, "task")} landed${each}.</b> ${plural(total.turns, "turn")} cost ${total.cost_usd == null ? "an unknown amount" : money(total.cost_usd)}${
    unknown > 0 ? `, and ${plural(unknown, "turn")} told no price` : ""}.`;
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
