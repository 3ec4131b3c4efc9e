// The search for the culprit of a failed train, as a tree of halves.

import {html} from "../../lib/ui.js";
import {fitText, timeOfDay} from "../../lib/format.js";

const WIDTH = 400;
const LEVEL = 70;
const GAP = 8;
const STATES = {
  failed: ["failed bad", "failed"],
  running: ["blocked", "split"],
  passed: ["landed", "landed"],
  landed: ["landed", "landed"],
  innocent: ["landed", "landed"],
  next: ["waiting", "waiting"],
  waiting: ["waiting", "waiting"],
  rejected: ["failed bad", "failed"],
  gone: ["cancelled", "cancelled"],
};

/** Boxes with their places: children share their parent's width by how many they are. */
function layOutHalves(half, x = 0, width = WIDTH, level = 0) {
  const y = 4 + level * LEVEL;
  const here = {half, x, y, width};
  const total = half.halves.reduce((sum, part) => sum + weight(part), 0);
  const inner = width - GAP * (half.halves.length - 1);
  let left = x;
  const below = [];
  for (const part of half.halves) {
    const share = (inner * weight(part)) / total;
    const laid = layOutHalves(part, left, share, level + 1);
    below.push({from: {x: left + share / 2, y: y + 46}, to: {x: left + share / 2, y: y + LEVEL}}, ...laid);
    left += share + GAP;
  }
  return [here, ...below];
}

/** A single member still needs room for its name. */
function weight(half) {
  return Math.max(1.6, half.members.length);
}

export function Halves({search, open}) {
  const laid = layOutHalves(search.tree);
  const boxes = laid.filter((one) => one.half);
  const height = Math.max(...boxes.map((one) => one.y)) + 46;
  return html`<div><svg class="halves" viewBox=${`-1 2 ${WIDTH + 2} ${height}`} role="img"
    aria-label=${`${search.title} ${spoken(search.tree)}`}>
      ${laid.filter((one) => one.from).map(({from, to}) => html`
        <path d=${`M${from.x} ${from.y}V${to.y}`} class="branch" />`)}
      ${boxes.map((one) => html`
        <${Half} key=${one.half.run ?? one.half.members.join()} one=${one} isRoot=${one.half === search.tree}
        open=${open} />`)}
    </svg>
    ${search.hints.length > 0 && html`<ul class="hints">${search.hints.map((words) => html`<li>${words}</li>`)}</ul>`}
      </div>`;
}

function spoken(half) {
  const own = `${half.members.join(", ")}: ${half.run ? `${half.run} ` : ""}${half.words}`;
  return [own, ...half.halves.map(spoken)].join("; ");
}

function Half({one, isRoot, open}) {
  const {half, x, y, width} = one;
  const [of, icon] = STATES[half.state] ?? STATES.gone;
  const count = half.members.length;
  const each = (width - 12 - 3 * (count - 1)) / count;
  const when = isRoot && half.at ? ` at ${timeOfDay(half.at)}` : "";
  const words = `${half.run ? `${half.run}, ` : ""}${half.words}${when}`;
  const isOpen = half.run ? {onClick: () => open(half.run), class: `run ${of} can`} : {class: `run ${of}`};
  return html`<g><g ...${isOpen}><title>${`${half.members.join(", ")}: ${words}`}</title>
      <rect class="box" x=${x} y=${y} width=${width} height="26" rx="5" />
      ${each >= 14 ? half.members.map((name, index) => html`
        <rect class="car" x=${x + 6 + index * (each + 3)} y=${y + 5} width=${each} height="16" rx="2" />
        <text x=${x + 6 + index * (each + 3) + each / 2} y=${y + 17} text-anchor="middle">
          ${fitText(name, each)}</text>`)
          : html`<text x=${x + width / 2} y=${y + 17} text-anchor="middle">${count}</text>`}
    </g>
    <g class=${of.split(" ")[0]}><svg x=${x} y=${y + 31} width="12" height="12" viewBox="0 0 16 16" class="i ico">
      <use href=${`#${icon}`} /></svg>
      <text class="ct i2" x=${x + 17} y=${y + 41}>${fitText(words, (width - 14) * 1.12)}</text></g></g>`;
}

export function searchNote(search) {
  if (search.done) return "the search is over";
  return `about ${search.runs_left} more run${search.runs_left === 1 ? "" : "s"}`;
}
