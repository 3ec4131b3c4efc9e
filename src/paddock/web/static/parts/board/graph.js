// A convoy's dependency graph: layered, as SVG, never larger than its box.

import {html} from "../../lib/ui.js";
import {placeNodes} from "../../lib/layers.js";
import {grouped, plural} from "../../lib/format.js";
import {FINISHED} from "../../lib/phases.js";
import {taskPath} from "../../lib/route.js";

const WIDTH = 60;
const HEIGHT = 20;
const COLUMN = 80;
const ROW = 28;
const UNFILLED = new Set(["waiting", "ready", "cancelled", "noop"]);

export function Graph({name, nodes, longest, columns = 4, rows = 4}) {
  const {placed, edges, hidden} = placeNodes(nodes, {columns, rows, longest});
  if (!edges.length) return null;
  const at = new Map(placed.map((one) => [one.node.id, one]));
  const width = Math.max(4, ...placed.map((one) => one.column + 1)) * COLUMN - COLUMN + WIDTH + 2;
  const height = Math.max(...placed.map((one) => one.row + 1)) * ROW - ROW + HEIGHT + 4;
  const way = new Set(longest.slice(1).map((id, index) => `${longest[index]} ${id}`));
  const label = `${name}: ${plural(placed.length, "task")} and what they wait for`;
  return html`<svg class="dag" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${label}>
    ${edges.map(([from, to]) => html`
      <${Edge} from=${at.get(from)} to=${at.get(to)} isLongest=${way.has(`${from} ${to}`)} />`)}
    ${placed.map((one) => html`<${Node} key=${one.node.id} ...${one} />`)}
  </svg>${hidden.length > 0 && html`<div class="w">${hiddenWords(hidden)}</div>`}`;
}

function hiddenWords(hidden) {
  const over = hidden.filter(({phase}) => FINISHED.has(phase)).length;
  if (over === hidden.length) return `${grouped(over)} finished, not drawn`;
  return `${plural(hidden.length, "more task")} not drawn${over ? `, ${grouped(over)} of them finished` : ""}`;
}

function Edge({from, to, isLongest}) {
  const x1 = from.column * COLUMN + WIDTH;
  const y1 = from.row * ROW + 12;
  const x2 = to.column * COLUMN;
  const y2 = to.row * ROW + 12;
  const bend = Math.max(10, (x2 - x1) / 2);
  return html`<path class=${isLongest ? "long" : null}
    d=${`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />`;
}

function Node({node, column, row}) {
  const x = column * COLUMN;
  const y = row * ROW + 2;
  return html`<a href=${taskPath(node.id)} class=${node.phase} aria-label=${`${node.id}, ${node.phase}: ${node.title}`}>
    <title>${node.title}</title>
    <rect class=${UNFILLED.has(node.phase) ? "n" : "n full"} x=${x + 0.5} y=${y + 0.5} width=${WIDTH - 1}
      height=${HEIGHT - 1} rx="4" />
    <svg class="i" x=${x + 5} y=${y + 4} width="12" height="12" viewBox="0 0 16 16"><use href=${`#${node.phase}`} />
      </svg>
    <text x=${x + 21} y=${y + 14}>${node.id}</text></a>`;
}
