// What landed, where the time of tasks went, which checks are slow, and by what most was thrown away.

import {Fragment, html} from "../../lib/ui.js";
import {dayAndTime, duration, grouped, money, plural, timeOfDay} from "../../lib/format.js";
import {taskPath} from "../../lib/route.js";
import {Bar} from "../bar.js";
import {openRunLog} from "../queue/run-log.js";
import {niceAbove} from "./axis.js";
import {agentPath, onBoard} from "./links.js";
import {Panel, useTold} from "./told.js";

const LEFT = 40;
const RIGHT = 636;
const TOP = 20;
const FLOOR = 116;
const WIDEST = 48;
const LABEL_ROOM = 52;
const HOUR = 3600;
const SPLIT_SECOND = 10;

export function Work({since}) {
  const told = useTold("insight/work", {since});
  return html`<${Fragment}>
    <div class="f2 even">
      <${Panel} title="What landed" told=${told} end=${told.data ? landedWords(told.data.landings) : ""}
        draw=${({landings}) => html`<div class="in"><${Landings} landings=${landings} /></div>`} />
      <${Panel} title="Where time went" told=${told} end=${told.data?.time ? timeWords(told.data.time) : ""}
        draw=${({time, time_problem: problem, longest}) => html`<div class="in">${time
          ? html`<${Time} time=${time} longest=${longest} />`
          : html`<p class="dim">${problem || "No task was finished in this time."}</p>`}</div>`} />
    </div>
    <div class="f2 even">
      <${Panel} title="Slowest checks" told=${told} end="by their time in all"
        draw=${({checks}) => html`<div class="in"><${Checks} checks=${checks} /></div>`} />
      <${Panel} title="Worst offenders" told=${told} end="by what came to nothing"
        draw=${({offenders}) => html`<div class="in"><${Offenders} offenders=${offenders} /></div>`} />
    </div></${Fragment}>`;
}

function landedWords({landed, decided, landed_before: before}) {
  return `${grouped(landed)} of ${grouped(decided)} decided${before ? `, ${grouped(before)} in the time before` : ""}`;
}

function Landings({landings: {bars, landed, failed, cancelled, without_change: noop, added, unfinished}}) {
  const most = niceAbove(Math.max(1, ...bars.map((bar) => bar.landed + bar.failed)));
  const step = (RIGHT - LEFT) / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(LABEL_ROOM / step));
  const y = (count) => FLOOR - (count / most) * (FLOOR - TOP);
  const counts = [["landed", landed], ["failed", failed], ["cancelled", cancelled], ["noop", noop]];
  return html`<div class="tw"><svg class="chart slim" viewBox="0 0 640 140" role="img"
      aria-label=${`${plural(landed, "change")} landed and ${plural(failed, "task")} failed`}>
    ${[0, most].map((count) => html`<path key=${count} class="axis" d=${`M${LEFT} ${y(count)}H${RIGHT}`} />
      <text class="ct e" x=${LEFT - 6} y=${y(count) + 4}>${grouped(count)}</text>`)}
    ${bars.map((bar, index) => html`<${LandedBar} key=${bar.began} bar=${bar} x=${LEFT + (index + 0.5) * step}
      width=${Math.min(WIDEST, step * 0.7)} y=${y} isNamed=${(bars.length - 1 - index) % every === 0} />`)}</svg></div>
    <p class="soft">${counts.filter(([, count]) => count > 0).map(([phase, count], index) => html`${index > 0 && ", "}
      <a class="link" href=${onBoard({phase})}>${grouped(count)} ${phase === "noop" ? "without a change" : phase}</a>`)}
      ${counts.some(([, count]) => count > 0) && "; "}${grouped(added)} added, ${grouped(unfinished)} not finished</p>`;
}

function LandedBar({bar, x, width, y, isNamed}) {
  const name = barName(bar);
  const words = `${name}: ${grouped(bar.landed)} landed, ${grouped(bar.failed)} failed`;
  const high = y(bar.landed);
  return html`<g><title>${words}</title>
    ${bar.landed > 0 && html`<rect class="landed fillc" x=${x - width / 2} y=${high} width=${width}
      height=${FLOOR - high} rx="1.5" />`}
    ${bar.failed > 0 && html`<rect class="failed fillc" x=${x - width / 2} y=${y(bar.landed + bar.failed)}
      width=${width} height=${Math.max(1, high - y(bar.landed + bar.failed) - 1)} rx="1.5" />`}
    ${isNamed && html`<text class="ct c" x=${x} y="134">${name}</text>`}</g>`;
}

function barName({began, seconds}) {
  return seconds <= HOUR ? timeOfDay(began) : dayAndTime(began).slice(5, 10);
}

function timeWords({tasks, median_seconds: each}) {
  return `${plural(tasks, "finished task")}, half of them within ${exact(each)}`;
}

function Time({time, longest}) {
  const parts = time.parts.map(({state, seconds}) => ({of: state, value: seconds}));
  const words = time.parts.filter(({seconds}) => seconds > 0).map(({name, share}) => `${name} ${percent(share)}`);
  return html`<${Bar} parts=${parts} most=${time.seconds} label=${words.join(", ")} size="fat" />
    <div class="tw"><table class="mid flat top-line">
      <thead><tr><th>what</th><th class="num">share</th><th class="num">half within</th><th>longest</th></tr></thead>
      <tbody>${time.parts.map((part) => html`<tr key=${part.name}>
        <td><span class="key"><svg width="10" height="10" class=${part.state} aria-hidden="true">
          <rect class="fillc" width="10" height="10" rx="2" /></svg>${part.name}</span></td>
        <td class="num">${percent(part.share)}</td><td class="num">${exact(part.median_seconds)}</td>
        <td><${Longest} tasks=${longest[part.name] ?? []} /></td></tr>`)}</tbody></table></div>`;
}

/** The tasks that were longest in a part. */
function Longest({tasks}) {
  return html`<span class="ev flush">${tasks.map(({task, seconds}) => html`<a class="chip mono" key=${task}
    href=${taskPath(task)}>${task} ${exact(seconds)}</a>`)}</span>`;
}

function Checks({checks}) {
  if (!checks.length) return html`<p class="dim">No check has ended in this time.</p>`;
  const most = Math.max(...checks.map(({seconds}) => seconds), 0.01);
  return html`<div class="tw"><table class="mid flat">
    <thead><tr><th>check</th><th><span class="hide">share</span></th><th class="num">in all</th>
      <th class="num">runs</th><th class="num">half within</th><th>longest</th><th class="num">failed</th></tr></thead>
    <tbody>${checks.map((check) => html`<tr key=${`${check.kind} ${check.name}`}>
      <td class="words">${check.name} <span class="dim">${check.kind === "ci" ? "CI" : check.kind}</span></td>
      <td class="share"><${Bar} parts=${[{of: "queued", value: check.seconds}]} most=${most}
        label=${exact(check.seconds)} /></td>
      <td class="num">${exact(check.seconds)}</td><td class="num">${grouped(check.runs)}</td>
      <td class="num">${exact(check.median_seconds)}</td>
      <td class="nowrap">${exact(check.longest_seconds)} <${Slowest} check=${check} /></td>
      <td class="num">${grouped(check.failed)}${check.flaked > 0 && html` <span class="dim">
        ${grouped(check.flaked)} by chance</span>`}</td></tr>`)}</tbody></table></div>`;
}

function Slowest({check: {kind, slowest}}) {
  if (!slowest) return null;
  if (kind !== "ci") return html`<a class="chip mono" href=${taskPath(slowest)}>${slowest}</a>`;
  return html`<button type="button" class="chip mono" onClick=${() => openRunLog(slowest)}
    aria-label=${`Log of ${slowest}`}>${slowest}</button>`;
}

function Offenders({offenders: {tasks, agents}}) {
  if (!tasks.length && !agents.length) return html`<p class="dim">Nothing came to nothing in this time.</p>`;
  return html`${tasks.length > 0 && html`<div class="tw"><table class="mid flat">
      <thead><tr><th>task</th><th></th><th class="num">lost</th><th class="num">of</th><th class="num">cost</th></tr>
        </thead>
      <tbody>${tasks.map((row) => html`<tr key=${row.task}>
        <td><a class="chip mono" href=${taskPath(row.task)}>${row.task}</a></td>
        <td class="words isolate">${row.title}</td><td class="num">${grouped(row.lost)}</td>
        <td class="num">${grouped(row.attempts)}</td><td class="num"><${Lost} usd=${row.lost_usd} /></td></tr>`)}
        </tbody></table></div>`}
    ${agents.length > 0 && html`<div class="tw"><table class="mid flat top-line">
      <thead><tr><th>agent</th><th>engine</th><th class="num">lost</th><th class="num">of</th><th class="num">cost</th>
        </tr></thead>
      <tbody>${agents.map((row) => html`<tr key=${`${row.agent} ${row.engine}`}>
        <td><a href=${agentPath(row)}>${row.agent || "none"}</a></td><td>${row.engine}</td>
        <td class="num">${grouped(row.lost)}</td><td class="num">${grouped(row.attempts)}</td>
        <td class="num"><${Lost} usd=${row.lost_usd} /></td></tr>`)}</tbody></table></div>`}`;
}

/** Unknown is not zero. */
function Lost({usd}) {
  return usd == null ? html`<span class="dim">unknown</span>` : money(usd);
}

function exact(seconds) {
  return seconds > 0 && seconds < SPLIT_SECOND ? `${seconds.toFixed(1)}s` : duration(seconds);
}

function percent(share) {
  return `${share > 0 && share < 0.005 ? "<1" : Math.round(share * 100)} %`;
}
