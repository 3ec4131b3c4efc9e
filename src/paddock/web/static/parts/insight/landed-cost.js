// What a landed change costs: all that was spent, divided by what landed, week by week and by where it went.

import {html} from "../../lib/ui.js";
import {grouped, money, plural} from "../../lib/format.js";
import {taskPath} from "../../lib/route.js";
import {Bar} from "../bar.js";
import {niceAbove} from "./axis.js";
import {Panel, useTold} from "./told.js";

const PARTS = [
  ["start-up context", "waiting", "startup_usd"],
  ["work", "running", "work_usd"],
  ["start-up or work", "ready", "unsplit_usd"],
  ["reviews", "reviewing", "review_usd"],
  ["thrown away", "failed", "thrown_usd"],
];
const LEFT = 48;
const RIGHT = 636;
const TOP = 24;
const FLOOR = 176;
const WIDEST = 56;

export function LandedCost({since}) {
  const told = useTold("insight/costs", {since});
  return html`<${Panel} title="What a landed change costs" told=${told} end="all that was spent, by what landed"
    draw=${({costs, weeks}) => html`<div class="in">${costs.split.attempts || weeks.length
      ? html`<${Weeks} weeks=${weeks} /><${Split} costs=${costs} /><${Dear} costs=${costs} />`
      : html`<p class="dim">No agent has worked yet.</p>`}</div>`} />`;
}

function Weeks({weeks}) {
  const most = niceAbove(Math.max(0, ...weeks.map((week) => week.per_landed_usd ?? 0)));
  const step = (RIGHT - LEFT) / Math.max(1, weeks.length);
  const y = (usd) => FLOOR - (usd / most) * (FLOOR - TOP);
  return html`<div class="tw"><svg class="chart slim" viewBox="0 0 640 204" role="img" aria-label=${weeksWords(weeks)}>
    ${[0, most / 2, most].map((usd) => html`<path class="axis" d=${`M${LEFT} ${y(usd)}H${RIGHT}`} />
      <text class="ct e" x=${LEFT - 6} y=${y(usd) + 4}>${money(usd) || "$0"}</text>`)}
    ${weeks.map((week, index) => html`<${Week} key=${week.began} week=${week} x=${LEFT + (index + 0.5) * step}
      width=${Math.min(WIDEST, step * 0.6)} y=${y} />`)}</svg></div>
    <div class="ev">${PARTS.filter(([, , field]) => weeks.some((week) => week.split[field] > 0)).map(([name, state]) =>
      html`<span class="chip" key=${name}><svg width="10" height="10" class=${state} aria-hidden="true">
        <rect class="fillc" width="10" height="10" rx="2" /></svg>${name}</span>`)}</div>`;
}

function Week({week, x, width, y}) {
  const name = html`<text class="ct c" x=${x} y="196">from ${week.began.slice(5, 10)}</text>`;
  if (week.per_landed_usd == null) {
    const words = week.landed ? "unknown" : "none landed";
    return html`${name}<text class="ct c" x=${x} y=${FLOOR - 6}>${words}</text>`;
  }
  let below = 0;
  const boxes = PARTS.filter(([, , field]) => week.split[field] > 0).map(([part, state, field]) => {
    const usd = week.split[field] / week.landed;
    const top = y(below + usd);
    const height = Math.max(0.8, y(below) - top - (below ? 1 : 0));
    below += usd;
    return html`<g class=${state}><title>${part} ${money(usd)}</title>
      <rect class="fillc" x=${x - width / 2} y=${top} width=${width} height=${height} rx="1.5" /></g>`;
  });
  return html`${name}${boxes}
    <text class="ct c k" x=${x} y=${y(below) - 6}>${money(week.per_landed_usd)}</text>`;
}

function weeksWords(weeks) {
  const told = weeks.map((week) => `from ${week.began.slice(0, 10)} ${money(week.per_landed_usd) || "unknown"}`);
  return `Cost of a landed change in ${plural(weeks.length, "week")}: ${told.join(", ")}`;
}

function Split({costs: {split, per_landed_usd: each, landed, thrown_away: thrown}}) {
  if (split.cost_usd == null) return html`<p class="dim top-gap">No attempt in this time has a price.</p>`;
  return html`<table class="mid flat top-line">
    <thead><tr><th>in this time</th><th><span class="hide">share</span></th><th class="num">cost</th></tr></thead>
    <tbody>
    ${PARTS.filter(([, , field]) => split[field] > 0).map(([name, state, field]) => html`<tr key=${name}>
      <td>${name}</td>
      <td class="share"><${Bar} parts=${[{of: state, value: split[field]}]} most=${split.cost_usd} label=${name} /></td>
      <td class="num">${money(split[field])}</td></tr>`)}
    <tr><td class="strong">all</td><td class="dim">${each == null ? "nothing landed"
      : `${money(each)} for each of ${grouped(landed)}`}</td><td class="num strong">${money(split.cost_usd)}</td></tr>
    </tbody></table>
    ${thrown.length > 0 && html`<ul class="said-so top-line" aria-label="Thrown away">${thrown.map((row) => html`
      <li key=${row.words}>${thrownWords(row)}</li>`)}</ul>`}
    ${(split.unpriced > 0 || split.unknown > 0) && html`<p class="dim">Not included:
      ${" "}${plural(split.unpriced, "turn")} without a price, ${grouped(split.unknown)} that told no tokens.</p>`}`;
}

function thrownWords({words, lost, lost_usd: usd, carried}) {
  const cost = usd == null ? "cost unknown" : money(usd);
  const more = carried ? ` (${grouped(carried)} more ${carried === 1 ? "was" : "were"} continued)` : "";
  return `${words}: ${grouped(lost)}, ${cost}${more}`;
}

/** Which agent's file or which brief makes starts dear. */
function Dear({costs: {starts, briefs}}) {
  const dear = starts.filter((start) => start.dear);
  if (!dear.length && !briefs.length) return null;
  return html`<ul class="said-so top-gap">${dear.map((start) => html`<li key=${start.agent}>Every start of
    <b>${` ${start.agent} `}</b> reads ${grouped(Math.round(start.tokens))} tokens, where the engine's other agents read
    ${grouped(Math.round(start.others))}.
    ${start.files.slice(0, 2).map(({path, about_tokens: about}) => html` <code>${path}</code> has about
      ${" "}${grouped(about)}.`)}
    </li>`)}
    ${briefs.map((row) => html`<li key=${row.task}><a class="link" href=${taskPath(row.task)}>${row.task}</a> starts
      with ${grouped(row.tokens)} tokens instead of ${grouped(Math.round(row.usual))}; its brief has about
      ${grouped(row.about_tokens)}.</li>`)}</ul>`;
}
