// The four figures on top: agents, money, merge queue, what landed. Each leads to its evidence.

import {html} from "../../lib/ui.js";
import {budget, clock, money, plural, roughMoney} from "../../lib/format.js";
import {at} from "../../lib/place.js";
import {documentOf} from "../../lib/state.js";
import {Age, Until} from "../age.js";
import {Bar, Slots, Spark} from "../bar.js";
import {State} from "../badge.js";
import {Words} from "../words.js";

/** Each figure reads its own field: one that changes redraws itself alone. */
export function Strip() {
  return html`<section class="strip panel" aria-label="Fleet">
    <${Figure} of="agents" Shown=${Agents} />
    <${Figure} of="spend" Shown=${Spend} />
    <${Figure} of="queue" Shown=${Queue} />
    <${Landed} />
  </section>`;
}

function Figure({of, Shown}) {
  return html`<${Shown} ...${documentOf("board").field(of).value} />`;
}

function Agents({running, cap, ready, limit, reason}) {
  const isUp = documentOf("board").field("daemon").value.state === "running";
  const free = isUp ? "nothing holds agents back" : "no daemon starts any: `paddock up`";
  const isOld = !isUp && running > 0;
  const most = isOld ? " when last seen" : cap != null && ` of ${cap}`;
  return html`<a href=${at("/fleet")}><span class="l">Agents <b>${running}</b>${most}<span class="end">
    ${ready} ready</span></span>
    <${Bar} parts=${[{of: isOld ? "plain" : "running", value: running}]} most=${isOld ? Math.max(running, cap) : cap}
      label=${`${running}${most || ""} agents`} />
    <span class="w">${limit && html`<${State} of="blocked" words=${limit} /> `}
      <span class="cut"><${Words} text=${reason || free} /></span></span></a>`;
}

function Spend({cost_usd, assumed_usd, budget_usd, forecast_usd, per_landed_usd}) {
  const spent = cost_usd == null ? "nothing" : money(cost_usd);
  const isOver = budget_usd != null && cost_usd > budget_usd;
  const isUp = documentOf("board").field("daemon").value.state === "running";
  const words = [
    isUp && forecast_usd != null && `forecast ${roughMoney(forecast_usd)}`,
    per_landed_usd != null && `${money(per_landed_usd)} per landed change`,
    assumed_usd > 0.01 * (cost_usd ?? 0) && `${money(assumed_usd)} of it assumed`,
  ].filter(Boolean);
  return html`<a href=${at("/fleet")}><span class="l">Spent today <b>${spent}</b>
    ${budget_usd != null ? ` of ${budget(budget_usd)}` : ""}</span>
    <${Bar} parts=${[{of: isOver ? "failed" : "ready", value: budget_usd == null ? 0 : cost_usd ?? 0}]}
      most=${budget_usd ?? 1}
      label=${budget_usd != null ? `${spent} of ${budget(budget_usd)}` : `${spent}, no budget set`} />
    <span class="w"><span class="cut" title=${words.join(" · ")}>${words.join(" · ") || "no budget set"}</span></span>
    </a>`;
}

const RUN_COLOURS = {train: "queued", search: "blocked", main: "landed"};

function Queue({state, reason, since, by, queued, slots, runs, next}) {
  const drawn = runs.map((run) => ({of: RUN_COLOURS[run.purpose] ?? "running", share: shareOver(run)}));
  const kinds = Object.entries(Object.groupBy(runs,
    (run) => run.purpose)).map(([kind, some]) => `${some.length} ${kind}`);
  const label = `${slots} CI slots${kinds.length ? `: ${kinds.join(", ")}` : ", none in use"}`;
  return html`<a href=${at("/queue")}><span class="l">Merge queue <b>${queued}</b> queued<span class="end">
    ${runs.length} of ${slots} slots</span></span>
    <${Slots} runs=${drawn} slots=${slots} label=${label} />
    <span class="w">${state === "open" ? html`<${NextLanding} next=${next} queued=${queued} />`
      : html`<${Stopped} state=${state} reason=${reason} since=${since} by=${by} />`}</span></a>`;
}

function Stopped({state, reason, since, by}) {
  return html`<${State} of="blocked" words=${state} /> <span class="cut">${since && html`for <${Age} at=${since} />`}
    ${by && ` by ${by}`}${reason && html`: <${Words} text=${reason} />`}</span>`;
}

function NextLanding({next, queued}) {
  if (!next) return html`<span class="cut"><${Words} text=${withoutNext(queued)} /></span>`;
  const what = next.members.length === 1 ? next.members[0] : `Train of ${next.members.length}`;
  return html`<span class="cut">${what} lands <${Until} at=${next.eta} lead="in " /></span>`;
}

function withoutNext(queued) {
  if (!queued) return "nothing is on its way to main";
  const isUp = documentOf("board").field("daemon").value.state === "running";
  return isUp ? "nobody can say yet what lands next" : "no daemon tests and lands them: `paddock up`";
}

/** How much of a run is over, by its own estimate. */
function shareOver({since, eta}) {
  if (!eta) return 0.05;
  const began = Date.parse(since);
  return Math.max(0.02, Math.min(0.98, (clock.peek() - began) / Math.max(1000, Date.parse(eta) - began)));
}

function Landed() {
  const board = documentOf("board");
  const [landed, main, branch] = [board.field("landed").value, board.field("main").value, board.field("branch").value];
  const streak = main?.state === "green" && main.streak > 1 ? `, ${plural(main.streak, "tip")} in a row` : "";
  const tip = main?.commit ? html`${branch} <code>${main.commit.slice(0, 7)}</code> ${main.state}${streak}`
    : "nothing tested yet";
  const perHour = landed.per_hour == null ? "" : `${Math.round(landed.per_hour * 10) / 10} an hour`;
  return html`<a href=${at("/queue")}><span class="l">Landed today <b>${landed.today}</b><span class="end">${
    perHour}</span>
    </span>
    <${Spark} values=${landed.hours} of="landed" />
    <span class="w"><span class="cut">${tip}</span></span></a>`;
}
