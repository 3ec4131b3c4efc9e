// Who lands how much, how attempts end, and what work has cost by agent, engine, day and convoy.

import {html} from "../../lib/ui.js";
import {grouped, money, plural} from "../../lib/format.js";
import {convoyPath} from "../../lib/route.js";
import {Bar} from "../bar.js";
import {inLog, onBoard} from "./links.js";

const GROUPS = ["agent", "engine", "day", "convoy"];
const ROWS = 14;
const OUTCOMES_SHOWN = 5;

export function Tables({found: {crew, engines, costs}}) {
  return html`<${Crew} rows=${crew} />
    <${Engines} rows=${engines} />
    <div class="two">${GROUPS.map((by) => html`<${CostTable} key=${by} by=${by} costs=${costs[by]}
      engines=${engines} />`)}</div>`;
}

function Crew({rows}) {
  return html`<section class="panel"><header><h2>Who lands how much</h2><span class="end">of what is decided</span>
    </header>
    <div class="in tw"><table class="mid flat">
      <thead><tr><th>agent</th><th>engine</th><th><span class="hide">share landed</span></th><th class="num">landed</th>
        ${["failed", "tasks", "attempts", "cost", "a change"].map((words) => html`<th class="num">${words}</th>`)}</tr>
          </thead>
      <tbody>${rows.slice(0, ROWS).map((row) => html`<${CrewRow} key=${`${row.agent} ${row.engine}`} row=${row} />`)}
        </tbody></table>
      <${More} count=${rows.length - ROWS} /></div></section>`;
}

function CrewRow({row}) {
  const share = row.landed_share == null ? "nothing decided" : `${Math.round(row.landed_share * 100)} % landed`;
  const parts = [{of: "landed", value: row.landed}, {of: "failed", value: row.failed}];
  const of = {agent: row.agent ?? "", engine: row.engine};
  return html`<tr><td>${row.agent ?? html`<span class="dim">none</span>`}</td><td>${row.engine}</td>
    <td class="share"><${Bar} parts=${parts} most=${row.decided} label=${share} /></td>
    <td class="num"><a href=${onBoard({...of, phase: "landed"})}>${grouped(row.landed)}</a> of ${grouped(row.decided)}
      </td>
    <td class="num"><a href=${onBoard({...of, phase: "failed"})}>${row.failed}</a></td>
    <td class="num"><a href=${onBoard(of)}>${grouped(row.tasks)}</a></td><td class="num">${grouped(row.attempts)}</td>
    <td class="num"><${Cost} usd=${row.cost_usd} /></td><td class="num"><${Cost} usd=${row.per_landed_usd} /></td>
      </tr>`;
}

function Engines({rows}) {
  return html`<section class="panel"><header><h2>How attempts end</h2><span class="end">the last 20 of each task</span>
    </header>
    <div class="in tw"><table class="mid flat">
      <thead><tr><th>engine</th><th><span class="hide">share useful</span></th><th class="num">useful</th>
        <th>outcomes</th></tr></thead>
      <tbody>${rows.map((row) => html`<${EngineRow} key=${row.engine} row=${row} />`)}</tbody></table></div></section>`;
}

function EngineRow({row}) {
  const outcomes = Object.entries(row.outcomes);
  const more = outcomes.length - OUTCOMES_SHOWN;
  const parts = [{of: "landed", value: row.useful}, {of: "failed", value: row.attempts - row.useful}];
  return html`<tr><td>${row.engine}</td>
    <td class="share"><${Bar} parts=${parts} most=${row.attempts} label=${`${row.useful} of ${row.attempts}`} /></td>
    <td class="num">${grouped(row.useful)} of ${grouped(row.attempts)}</td>
    <td><span class="ev">
      ${outcomes.slice(0, OUTCOMES_SHOWN).map(([outcome, count]) => html`<a class="chip" key=${outcome}
        href=${inLog(outcome)}>${outcome.replaceAll("_", " ")} ${count}</a>`)}
      ${more > 0 && html`<span class="dim">${more} more</span>`}</span></td></tr>`;
}

function CostTable({by, costs, engines}) {
  const rows = sorted(costs.rows, by);
  const most = Math.max(...rows.map((row) => row.cost_usd ?? 0), 0.01);
  return html`<section class="panel"><header><h2>Cost by ${by}</h2><span class="end">${plural(rows.length, by)}</span>
    </header>
    <div class="in tw"><table class="mid flat">
      <thead><tr><th>${by}</th><th><span class="hide">share</span></th>
        <th class="num">cost</th><th class="num">turns</th><th class="num">tokens</th></tr></thead>
      <tbody>${rows.slice(0, ROWS).map((row) => html`
        <${CostRow} key=${row[by]} name=${row[by]} row=${row} most=${most}
          to=${pathOf(by, row[by], engines)} />`)}</tbody></table>
      <${More} count=${rows.length - ROWS} command=${`paddock costs --by ${by}`} /></div></section>`;
}

function CostRow({name, row, most, to}) {
  return html`<tr><td class="cut">${to ? html`<a href=${to}>${name}</a>` : name}</td>
    <td class="share"><${Bar} parts=${[{of: "ready", value: row.cost_usd ?? 0}]} most=${most}
      label=${money(row.cost_usd) || "unknown"} /></td>
    <td class="num"><${Cost} usd=${row.cost_usd} /></td><td class="num">${grouped(row.turns)}</td>
    <td class="num">${grouped(row.input_tokens + row.output_tokens)}</td></tr>`;
}

/** Where its tasks are. What no agent did stands under the name of its engine. */
function pathOf(by, name, engines) {
  if (by === "convoy") return name === "none" ? onBoard({convoy: ""}) : convoyPath(name);
  if (by === "engine") return onBoard({engine: name});
  if (by === "day") return null;
  return onBoard(engines.some((row) => row.engine === name) ? {agent: "", engine: name} : {agent: name});
}

/** Unknown is not zero. */
function Cost({usd}) {
  return usd == null ? html`<span class="dim">unknown</span>` : money(usd);
}

function More({count, command = ""}) {
  if (count <= 0) return null;
  return html`<p class="dim">${count} more${command && html`: <code>${command}</code>`}</p>`;
}

function sorted(rows, by) {
  if (by === "day") return [...rows].sort((one, other) => (one.day < other.day ? 1 : -1));
  return [...rows].sort((one, other) => (other.cost_usd ?? -1) - (one.cost_usd ?? -1));
}
