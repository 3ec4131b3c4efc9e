// What schedules will cost: each with its next time, and the days ahead, all as the estimates that they are.

import {html} from "../../lib/ui.js";
import {clock, grouped, plural, roughMoney, roughly} from "../../lib/format.js";
import {State} from "../badge.js";
import {niceAbove} from "./axis.js";
import {Panel, useTold} from "./told.js";

const DAYS = 7;
const LEFT = 48;
const RIGHT = 636;
const TOP = 20;
const FLOOR = 116;
const WIDEST = 48;

/** Nothing where there are no schedules. */
export function Schedules() {
  const told = useTold("schedules", {days: DAYS});
  if (!told.problem && !told.data?.schedules.length) return null;
  return html`<${Panel} title="What schedules will cost" told=${told} end=${told.data ? sum(told.data) : ""}
    draw=${({schedules, total}) => html`<div class="in">
      ${total.length > 0 && html`<div class="tw"><${Days} days=${total} /></div>`}
      <${DayBudget} schedules=${schedules} />
      <div class="tw"><table class="mid"><thead><tr><th>schedule</th><th>due</th><th>next</th>
        <th class="num">a day, about</th><th class="num">9 in 10 by</th><th class="num">start-up</th>
        <th><span class="hide">standing</span></th></tr></thead>
        <tbody>${schedules.map((row) => html`<${Row} key=${row.name} row=${row} />`)}</tbody></table></div></div>`} />`;
}

function sum({schedules, total}) {
  const fullest = total.reduce((most, day) => (day.usd.p90 > (most?.usd.p90 ?? -1) ? day : most), null);
  const paused = schedules.filter((row) => row.paused != null).length;
  const words = `${plural(schedules.length, "schedule")}${paused ? `, ${paused} paused` : ""}`;
  if (!fullest) return words;
  return `${words}; the fullest day about ${roughMoney(fullest.usd.p50)}, 9 in 10 by ${roughMoney(fullest.usd.p90)}`;
}

function Days({days}) {
  const most = niceAbove(Math.max(0, ...days.map((day) => day.usd.p90)));
  const step = (RIGHT - LEFT) / days.length;
  const width = Math.min(WIDEST, step * 0.6);
  const y = (usd) => FLOOR - (usd / most) * (FLOOR - TOP);
  return html`<svg class="chart slim" viewBox="0 0 640 140" role="img" aria-label=${daysWords(days)}>
    ${[0, most].map((usd) => html`<path class="axis" d=${`M${LEFT} ${y(usd)}H${RIGHT}`} />
      <text class="ct e" x=${LEFT - 6} y=${y(usd) + 4}>${roughMoney(usd)}</text>`)}
    ${days.map((day, index) => {
      const x = LEFT + (index + 0.5) * step - width / 2;
      const words = `${day.day.slice(5, 10)}: ${dayWords(day)}`;
      return html`<g class="ready" key=${day.day}><title>${words}</title>
        <rect class="washc" x=${x} y=${y(day.usd.p90)} width=${width} height=${FLOOR - y(day.usd.p90)} />
        <path class="linec dash" d=${`M${x} ${FLOOR}V${y(day.usd.p90)}h${width}V${FLOOR}`} />
        <path class="linec" d=${`M${x} ${y(day.usd.p50)}h${width}`} />
        <text class="ct c" x=${x + width / 2} y="134">${day.day.slice(5, 10)}</text></g>`;
    })}</svg>`;
}

function daysWords(days) {
  const told = days.map((day) => `${day.day.slice(5, 10)} ${dayWords(day)}`);
  return `Forecast of ${plural(days.length, "day")}: ${told.join(", ")}`;
}

function dayWords({usd, firings}) {
  return `${plural(firings, "run")}, about ${roughMoney(usd.p50)}, 9 in 10 by ${roughMoney(usd.p90)}`;
}

function Row({row}) {
  const day = row.forecast?.fullest;
  const next = row.next && (Date.parse(row.next) - clock.value) / 1000;
  return html`<tr><td>${row.name}</td><td class="dim nowrap">${row.means}</td>
    <td class="nowrap">${row.paused != null ? "paused" : row.next ? nextWords(next) : "-"}</td>
    <td class="num">${day ? `~${roughMoney(day.usd.p50)}` : "unknown"}</td>
    <td class="num">${day ? `~${roughMoney(day.usd.p90)}` : ""}</td>
    <td class="num">${day ? `~${roughMoney(day.startup_usd.p50)}` : ""}</td>
    <td><${Standing} row=${row} /></td></tr>`;
}

/** What is due stays due until a daemon sees to it. */
function nextWords(seconds) {
  return seconds < 1 ? "due now" : `in ${roughly(seconds)}`;
}

/** Told once: it is about all schedules together. */
function DayBudget({schedules}) {
  const over = schedules.find((row) => row.over?.scope === "day")?.over;
  return over ? html`<p><${State} of="blocked" words=${`all together ${overWords(over)}`} /></p>` : null;
}

function Standing({row}) {
  if (row.problem) return html`<${State} of="failed" words=${row.problem} />`;
  if (row.over?.scope === "schedule") return html`<${State} of="blocked" words=${overWords(row.over)} />`;
  if (row.failure) return html`<${State} of="failed" words=${`could not fire: ${row.failure.reason}`} />`;
  return row.forecast?.is_guess ? html`<span class="dim">a guess: none of its sort yet</span>` : null;
}

function overWords({scope, unit, limit, p90}) {
  const amount = (value) => (unit === "tokens" ? `${grouped(Math.round(value))} tokens` : roughMoney(value));
  return `above ${scope === "day" ? "the day's" : "its"} budget: ${amount(p90)} of ${amount(limit)}`;
}
