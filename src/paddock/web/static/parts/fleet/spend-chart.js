// What today has cost so far, against its budget, and where it is heading: facts solid, the rest dashed.

import {html} from "../../lib/ui.js";
import {clock, grouped, money, timeOfDay} from "../../lib/format.js";

const LEFT = 42;
const RIGHT = 412;
const TOP = 27;
const FLOOR = 166;
const LABEL_WIDTH = 156;

export function SpendChart({spend}) {
  const begins = Date.parse(spend.begins);
  const ends = Date.parse(spend.ends);
  const now = Math.min(clock.peek(), ends);
  const most = niceAbove(Math.max(spend.budget_usd ?? 0, spend.high_usd ?? 0, spend.cost_usd, 0.01));
  const x = (at) => LEFT + ((at - begins) / (ends - begins)) * (RIGHT - LEFT);
  const y = (usd) => FLOOR - (usd / most) * (FLOOR - TOP);
  const steps = [[begins, 0], ...spend.steps.map(([at, usd]) => [Date.parse(at), usd]), [now, spend.cost_usd]];
  const points = stepped(steps).map(([at, usd]) => `${x(Math.min(at, now)).toFixed(1)},${y(usd).toFixed(1)}`).join(" ");
  const here = {x: x(now), y: y(spend.cost_usd)};
  const figure = (usd) => short(usd, most);
  const label = `${money(spend.cost_usd)} spent today${spend.budget_usd != null ? ` of ${money(spend.budget_usd)}`
    : ""}${spend.forecast_usd != null ? `, about ${money(spend.forecast_usd)} by midnight` : ""}`;
  return html`<svg class="chart" viewBox="0 0 420 190" role="img" aria-label=${label}>
    ${[0, most / 2, most].map((usd) => html`<path class="axis" d=${`M${LEFT} ${y(usd)}H${RIGHT}`} />
      <text class="ct e" x=${LEFT - 6} y=${y(usd) + 4}>${figure(usd)}</text>`)}
    ${spend.budget_usd != null
      && html`<path d=${`M${LEFT} ${y(spend.budget_usd)}H${RIGHT}`} stroke="var(--ink)" class="dash" />
      <text class="ct k" x=${LEFT + 4} y=${y(spend.budget_usd) - 5}>budget for the day, ${figure(spend.budget_usd)}
      </text>`}
    <g class="ready"><polygon class="washc" points=${`${LEFT},${FLOOR} ${points} ${here.x},${FLOOR}`} />
      <polyline class="linec" points=${points} /></g>
    ${spend.forecast_usd != null
      && html`<polygon points=${`${here.x},${here.y} ${RIGHT},${y(spend.high_usd)} ${RIGHT},${y(spend.low_usd)}`}
      fill="var(--ready)" opacity=".12" />
      <path d=${`M${here.x} ${here.y}L${RIGHT} ${y(spend.forecast_usd)}`} stroke="var(--ready)" class="dash" />
      <text class="ct e k" x=${RIGHT}
        y=${labelY({here, low: y(spend.low_usd), high: y(spend.high_usd), budget: spend.budget_usd == null ? null
        : y(spend.budget_usd)})}>forecast ${figure(spend.forecast_usd)}
        , ${figure(spend.low_usd)} to ${figure(spend.high_usd)}</text>`}
    <text class="ct" x=${LEFT} y="186">${timeOfDay(spend.begins)}</text>
    ${here.x > LEFT + 44 && here.x < RIGHT - 44
      && html`<text class="ct c" x=${here.x} y="186">${timeOfDay(now)}</text>`}
    <text class="ct e" x=${RIGHT} y="186">${timeOfDay(spend.ends)}</text>
  </svg>`;
}

/** What is paid for comes in steps: nothing happens between them. */
function stepped(steps) {
  return steps.flatMap(([at, usd], index) => (index ? [[at, steps[index - 1][1]], [at, usd]] : [[at, usd]]));
}

/** Below the forecast where there is room, else above it, and above the budget's line if that would cross it. */
function labelY({here, low, high, budget}) {
  const left = RIGHT - LABEL_WIDTH;
  const below = left < here.x ? Infinity : here.y + ((left - here.x) / (RIGHT - here.x)) * (low - here.y) + 14;
  if (below <= FLOOR - 4) return below;
  const above = high - 6;
  return budget != null && budget > above - 13 && budget < above + 5 ? budget - 6 : above;
}

/** Cents only where the whole axis is about cents. */
function short(usd, most) {
  return most >= 4 ? `$${grouped(Math.round(usd))}` : money(usd);
}

function niceAbove(usd) {
  const power = 10 ** Math.floor(Math.log10(usd));
  return [1, 2, 4, 5, 8, 10].map((one) => one * power).find((one) => one >= usd * 1.02) ?? 10 * power;
}
