// What today has cost, and each convoy against its budget.

import {html} from "../../lib/ui.js";
import {money} from "../../lib/format.js";
import {convoyPath} from "../../lib/route.js";
import {Bar} from "../bar.js";
import {SpendChart} from "./spend-chart.js";

const NEARLY_SPENT = 0.9;

export function Spend({spend}) {
  const {cost_usd, per_hour_usd, assumed_usd, budget_usd, convoys} = spend;
  return html`<section class="panel">
    <header><h2>Spent today</h2><span class="end">
      <b class="strong soft">${cost_usd == null ? "nothing" : money(cost_usd)}</b>
      ${per_hour_usd != null && `· ${money(per_hour_usd)} an hour`}
      ${assumed_usd > 0 && ` · ${money(assumed_usd)} assumed`}</span></header>
    <div class="in">
      ${cost_usd == null ? html`<p class="dim">Nothing was spent today.</p>` : html`<${SpendChart} spend=${spend} />`}
      ${budget_usd == null
        && html`<p class="dim top-line">No budget for the day: <code>paddock budget set day --usd 20</code></p>`}
      ${convoys.length > 0 && html`<table class="bud">${convoys.map((row) =>
        html`<${Convoy} key=${row.name} row=${row} />`)}</table>`}</div>
  </section>`;
}

function Convoy({row}) {
  const {name, cost_usd, budget_usd} = row;
  const isNearlySpent = cost_usd > NEARLY_SPENT * budget_usd;
  return html`<tr><td><a href=${convoyPath(name)}>${name}</a></td>
    <td>${budget_usd != null && html`<${Bar} parts=${[{of: isNearlySpent ? "blocked" : "ready",
      value: Math.min(cost_usd, budget_usd)}]} most=${budget_usd || 1} label=${name} />`}</td>
    <td class="num">${money(cost_usd)}${budget_usd != null && ` of ${money(budget_usd)}`}</td></tr>`;
}
