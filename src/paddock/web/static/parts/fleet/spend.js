// What today has cost so far, against its budget, and where it is heading: facts solid, the rest dashed.

import {html} from "../../lib/ui.js";
import {clock, money, timeOfDay} from "../../lib/format.js";

const LEFT = 42;
const RIGHT = 412;
const TOP = 27;
const FLOOR = 166;

export function SpendChart({spend}) {
  const begins = Date.parse(spend.begins);
  const ends = Date.parse(spend.ends);
  const now = Math.min(clock.peek(), ends);
  const most = niceAbove(Math.max(spend.budget_usd ?? 0, spend.high_usd ?? 0, spend.cost_usd, 0.01));
  const x = (at) => LEFT + ((at - begins) / (ends - begins)) * (RIGHT - LEFT);
  const y = (usd) => FLOOR - (usd / most) * (FLOOR - TOP);
  const steps = [[begins, 0], ...spend.steps.map(([at, usd]) => [Date.parse(at), usd]), [now, spend.cost_usd]];
  const points = steps.map(([at, usd]) => `${x(Math.min(at, now)).toFixed(1)},${y(usd).toFixed(1)}`).join(" ");
  const here = {x: x(now), y: y(spend.cost_usd)};
  const label = `${money(spend.cost_usd)} spent today${spend.budget_usd != null ? ` of ${money(spend.budget_usd)}` : ""}${spend.forecast_usd != null ? `, about ${money(spend.forecast_usd)} by midnight` : ""}`;
  return html`<svg class="chart" viewBox="0 0 420 190" role="img" aria-label=${label}>
    ${[0, most / 2, most].map((usd) => html`<path class="axis" d=${`M${LEFT} ${y(usd)}H${RIGHT}`} /><text class="ct e" x=${LEFT - 6} y=${y(usd) + 4}>${short(usd)}</text>`)}
    ${spend.budget_usd != null && html`<path d=${`M${LEFT} ${y(spend.budget_usd)}H${RIGHT}`} stroke="var(--ink)" class="dash" /><text class="ct k" x=${LEFT + 4} y=${y(spend.budget_usd) - 5}>budget of the day, ${short(spend.budget_usd)}</text>`}
    <g class="ready"><polygon class="washc" points=${`${LEFT},${FLOOR} ${points} ${here.x},${FLOOR}`} /><polyline class="linec" points=${points} /></g>
    ${spend.forecast_usd != null && html`<polygon points=${`${here.x},${here.y} ${RIGHT},${y(spend.high_usd)} ${RIGHT},${y(spend.low_usd)}`} fill="var(--ready)" opacity=".12" />
      <path d=${`M${here.x} ${here.y}L${RIGHT} ${y(spend.forecast_usd)}`} stroke="var(--ready)" class="dash" />
      <text class="ct e k" x=${RIGHT - 2} y=${Math.min(FLOOR - 8, Math.max(y(spend.low_usd) + 18, TOP + 18))}>forecast ${short(spend.forecast_usd)}, ${short(spend.low_usd)} to ${short(spend.high_usd)}</text>`}
    <text class="ct" x=${LEFT} y="186">${timeOfDay(spend.begins)}</text>
    ${here.x > LEFT + 44 && here.x < RIGHT - 44 && html`<text class="ct c" x=${here.x} y="186">${timeOfDay(now)}</text>`}
    <text class="ct e" x=${RIGHT} y="186">${timeOfDay(spend.ends)}</text>
  </svg>`;
}

/** For an axis: no cents where there are dollars. */
function short(usd) {
  return usd === 0 || usd >= 4 ? `$${Math.round(usd)}` : money(usd);
}

function niceAbove(usd) {
  const power = 10 ** Math.floor(Math.log10(usd));
  return [1, 2, 4, 5, 8, 10].map((one) => one * power).find((one) => one >= usd * 1.02) ?? 10 * power;
}
