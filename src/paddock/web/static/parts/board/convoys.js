// Convoys under way: how far they are, what they cost, and the longest way left.

import {computed, html, useMemo, useSignal} from "../../lib/ui.js";
import {budget, money, plural} from "../../lib/format.js";
import {FINISHED} from "../../lib/phases.js";
import {convoyPath} from "../../lib/route.js";
import {documentOf} from "../../lib/state.js";
import {Until} from "../age.js";
import {Bar} from "../bar.js";
import {Graph} from "./graph.js";

const BAR_ORDER = [
  "landed", "done", "noop", "queued", "reviewing", "approval", "running", "blocked", "failed", "ready", "waiting",
  "cancelled",
];
const FINISHED_SHOWN = 3;

export function Convoys({tasks, only}) {
  const convoys = documentOf("board").field("convoys").value;
  const rows = [...convoys.values()].map((row) => row.value);
  const wanted = only ? rows.filter((row) => row.name === only) : rows;
  const [over, underWay] = split(wanted, isOver);
  if (!wanted.length) return null;
  const first = underWay.find((row) => hasGraph(row, tasks))?.name;
  const more = only ? 0 : over.length - FINISHED_SHOWN;
  return html`<section class="panel" aria-label="Convoys">
    <header><h2>Convoys</h2><span class="end">${underWay.length} under way</span></header>
    ${[...underWay, ...(only ? over : over.slice(-FINISHED_SHOWN))].map((row) => html`
      <${Convoy} key=${row.name} row=${row} tasks=${tasks} isOpen=${[first, only].includes(row.name)}
        isLarge=${Boolean(only)} />`)}
    ${more > 0 && html`<p class="more">${plural(more, "more convoy")} finished</p>`}
  </section>`;
}

function Convoy({row, tasks, isOpen, isLarge}) {
  const chosen = useSignal(null);
  const shows = chosen.value ?? isOpen;
  const parts = BAR_ORDER.map((phase) => ({of: phase, value: row.counts[phase] ?? 0}));
  const left = row.eta ? html`<${Until} at=${row.eta} isRough />` : isOver(row) && "done";
  const canDraw = hasGraph(row, tasks);
  return html`<div class="convoy" data-convoy=${row.name}>
    <div class="l"><a class="strong cut" href=${convoyPath(row.name)} title=${row.title}>
      ${row.name}</a>
      <span class="dim nowrap">${row.done} of ${row.total} done</span><span class="end nowrap">${left}
        ${canDraw && html`<button type="button" class="link" aria-expanded=${shows ? "true" : "false"}
        aria-label=${`Graph of ${row.name}`} onClick=${() => { chosen.value = !shows; }}>graph</button>`}</span></div>
    <${Bar} parts=${parts} most=${row.total} label=${`${row.name}: ${row.done} of ${row.total} done`} />
    <div class="w"><${ConvoyWords} row=${row} /></div>
    ${shows && canDraw && html`<${LiveGraph} row=${row} tasks=${tasks} isLarge=${isLarge} />`}
  </div>`;
}

/** Drawn again only when what it shows changes: phases and edges, not every step of every task. */
function LiveGraph({row, tasks, isLarge}) {
  const shape = useMemo(() => computed(() => JSON.stringify(row.tasks.map((id) => tasks.get(id)?.value).filter(Boolean)
    .map(({id, title, phase, after}) => ({id, title, phase, after})))), [row, tasks]);
  const bounds = isLarge ? {columns: 4, rows: 16} : {columns: 4, rows: 6};
  return html`<${Graph} name=${row.name} nodes=${JSON.parse(shape.value)} longest=${row.longest} ...${bounds} />`;
}

function ConvoyWords({row}) {
  const words = [];
  if (row.longest.length > 1) words.push(`longest way left: ${wayOf(row.longest)}`);
  if (row.needs) words.push(`${row.needs} ${row.needs === 1 ? "waits" : "wait"} for you`);
  const limit = row.budget_usd == null ? "" : ` of ${budget(row.budget_usd)}`;
  if (row.cost_usd != null) words.push(`${money(row.cost_usd)}${limit}`);
  return words.join(" · ");
}

function wayOf(ids) {
  return ids.length > 5 ? `${ids.slice(0, 3).join(" → ")} → … → ${ids.at(-1)}` : ids.join(" → ");
}

function hasGraph(row, tasks) {
  return row.tasks.some((id) => tasks.get(id)?.peek().after.some((one) => row.tasks.includes(one)));
}

function isOver(row) {
  return [...FINISHED].reduce((sum, phase) => sum + (row.counts[phase] ?? 0), 0) >= row.total;
}

function split(rows, test) {
  return [rows.filter(test), rows.filter((row) => !test(row))];
}
