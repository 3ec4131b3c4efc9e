// A CI run as a box in the picture: under way, over, or planned.

import {html} from "../../lib/ui.js";
import {clock, fitText} from "../../lib/format.js";
import {anchor, boxOf, carsOf} from "./geometry.js";
import {KINDS, describeRun, membersOf} from "./run-words.js";

const ICONS = {pass: "landed", fail: "failed", timeout: "failed", infra: "noop", cancelled: "cancelled"};
const NAME_WIDTH = 39;
const RUNNING = {train: "queued", screen: "running", search: "blocked", main: "ready"};

export function RunBox({run, scale, rows, chosen, hovered, open}) {
  const started = Date.parse(run.started);
  const until = run.ended ? Date.parse(run.ended)
    : Math.max(Date.parse(run.ends ?? run.started), anchor(clock.peek(), 40));
  const to = run.ended ? until : Math.max(until, clock.peek());
  const box = boxOf(scale, rows, {slot: run.slot, from: started, to});
  if (!box) return null;
  const isChosen = chosen.value === run.run;
  return html`<g class=${`run ${classOf(run)} ${run.kind}${isChosen ? " chosen" : ""}`} data-run=${run.run}
    role="button" tabindex=${isChosen ? 0 : -1} aria-label=${describeRun(run)} onClick=${() => open(run.run)}
    onMouseEnter=${() => { hovered.value = run.run; }} onMouseLeave=${() => { hovered.value = null; }}
    onFocus=${() => { chosen.value = run.run; hovered.value = run.run; }} onBlur=${() => { hovered.value = null; }}>
    <rect class="box" ...${box} rx=${run.kind === "train" || run.kind === "search" ? 5 : 3} />
    ${!run.ended && html`<${Done} started=${started} box=${box} scale=${scale} />`}
    <${Inside} run=${run} box=${box} />
  </g>`;
}

function classOf(run) {
  if (!run.ended) return `${RUNNING[run.kind]} go`;
  if (run.result === "fail" || run.result === "timeout") return "failed bad";
  if (run.result === "infra") return "noop old";
  if (run.result === "cancelled") return "cancelled old";
  if (run.kind === "train") return run.landed ? "landed" : "landed old";
  return run.kind === "search" ? "blocked" : "landed old";
}

/** What is over of a run that goes on, one step a second. */
function Done({started, box, scale}) {
  const width = Math.min(box.width, Math.max(0, scale.x(clock.value) - Math.max(scale.x(started), box.x)));
  return html`<rect class="elapsed" x=${box.x + 0.5} y=${box.y + 0.5} width=${Math.max(0, width - 1)}
    height=${box.height - 1} rx="3" />`;
}

function Inside({run, box}) {
  const isRoomy = box.height > 14;
  const isTold = run.kind !== "train" || (!run.landed && run.result !== "fail" && run.result !== "timeout");
  const end = run.ended && isTold && isRoomy && box.width > 26 ? ICONS[run.result] : null;
  const isSplit = run.kind === "search" && isRoomy && box.width > 44;
  const indent = isSplit ? 20 : 7;
  const place = {x: box.x + indent, middle: box.y + box.height / 2, room: box.width - indent - 5 - (end ? 16 : 0)};
  return html`${isSplit && html`<${BoxIcon} name="split" x=${box.x + 5} middle=${place.middle} />`}
    ${run.kind === "train" || run.kind === "search"
      ? html`<${Train} run=${run} ...${place} />`
      : html`<text x=${place.x} y=${place.middle + 4}>${fitText(membersOf(run), place.room)}</text>`}
    ${end && html`<${BoxIcon} name=${end} x=${box.x + box.width - 17} middle=${place.middle} />`}`;
}

/** Its name, then a car for each member, or their number where there is no room for them. */
function Train({run, x, middle, room}) {
  const count = run.members.length;
  const name = fitText(run.run, Math.min(room, 40));
  const start = x + (name ? NAME_WIDTH : 0);
  const cars = count > 1 ? carsOf(count, start, room - (name ? NAME_WIDTH : 0)) : [];
  const told = count > 1 ? `×${count}` : membersOf(run);
  const alone = !cars.length && room > 58 ? fitText(told, room - NAME_WIDTH) : "";
  return html`${name && html`<text x=${x} y=${middle + 4}>${name}</text>`}
    ${cars.map((car, index) => html`
      ${index > 0 && html`<path class="coup" d=${`M${car.x - car.gap} ${middle}h${car.gap}`} />`}
      <rect class="car" x=${car.x} y=${middle - 5} width=${car.width} height="10" rx="2" />`)}
    ${alone && html`<text x=${start} y=${middle + 4}>${alone}</text>`}`;
}

function BoxIcon({name, x, middle}) {
  return html`<svg x=${x} y=${middle - 6} width="12" height="12" viewBox="0 0 16 16" class="i ico">
    <use href=${`#${name}`} /></svg>`;
}

/** While nothing moves planned runs have no times: they stand behind now, in their order. */
export function placePlanned(queue, runs, now, scale) {
  const usual = (queue.typical_seconds ?? (scale.end - scale.start) / 9000) * 1000;
  const expected = (run) => Math.max(now, Date.parse(run.ends ?? run.started) || now);
  const running = runs.filter((run) => !run.ended);
  const free = new Map(running.map((run) => [run.slot, expected(run) + usual * 0.05]));
  return queue.planned.map((run) => {
    if (run.starts) {
      return {...run, from: Math.max(Date.parse(run.starts), now), to: Math.max(Date.parse(run.ends), now + usual / 2)};
    }
    const from = free.get(run.slot) ?? now + usual * 0.1;
    free.set(run.slot, from + usual * 1.05);
    return {...run, from, to: from + usual};
  });
}

export function PlannedBox({run, scale, rows}) {
  const box = boxOf(scale, rows, run);
  if (!box || box.width < 4) return null;
  const what = run.kind === "train" && run.members.length > 1
    ? `train of ${run.starts ? "about " : ""}${run.members.length}` : run.members.join(" ") || "main";
  return html`<g class=${`run plan ${RUNNING[run.kind]}`}><title>
    ${`planned ${KINDS[run.kind]}: ${run.members.join(", ") || "main"}`}</title>
    <rect class="box" ...${box} rx=${run.kind === "train" ? 5 : 3} />
      <text x=${box.x + 7} y=${box.y + box.height / 2 + 4}>${fitText(what, box.width - 12)}</text></g>`;
}
