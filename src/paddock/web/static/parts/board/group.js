// The tasks of one phase. Empty groups are not drawn.

import {html, useComputed, useSignal} from "../../lib/ui.js";
import {cursor, release} from "../../lib/cursor.js";
import {plural} from "../../lib/format.js";
import {FINISHED} from "../../lib/phases.js";
import {documentOf} from "../../lib/state.js";
import {Until} from "../age.js";
import {State} from "../badge.js";
import {ColumnHeads, TaskRow} from "./row.js";
import {VirtualRows} from "../virtual.js";

const FINISHED_SHOWN = 5;

export const folded = new Set();

export function Group({phase, tasks, section, isFirst, isAlone}) {
  const {ids, leaving, moved, count} = section.value;
  const isWhole = useSignal(false);
  if (!ids.length && !count) return null;
  const isCut = FINISHED.has(phase) && !isWhole.value && !isAlone && ids.length > FINISHED_SHOWN + 1;
  const shown = isCut ? ids.slice(0, FINISHED_SHOWN) : ids;
  const pinned = cursor.value?.section === phase ? cursor.value.id : null;
  const onToggle = (event) => { folded[event.currentTarget.open ? "delete" : "add"](phase); };
  const show = (event) => {
    event.preventDefault();
    release();
  };
  const draw = (id) => {
    const row = tasks.get(id);
    return row && html`<${TaskRow} key=${id} row=${row} section=${phase} isLeaving=${leaving.has(id)} />`;
  };
  return html`<details class="group panel" id=${phase} data-section=${phase} open=${!folded.has(phase)}
    onToggle=${onToggle}>
    <summary><${State} of=${phase} /><span class="cnt">${count}</span>
      <span class="end"><${Note} phase=${phase} section=${section} tasks=${tasks} /></span>
      ${moved > 0 && html`<button type="button" class="b bare moved" onClick=${show}>${moved} moved</button>`}</summary>
    ${isFirst && html`<${ColumnHeads} />`}
    <${VirtualRows} keys=${shown} draw=${draw} pinned=${pinned} />
    ${isCut && html`<button type="button" class="more" onClick=${() => { isWhole.value = true; }}>
      ${ids.length - FINISHED_SHOWN} more</button>`}
    ${phase === "landed" && !isCut && html`<${Older} />`}
  </details>`;
}

function Older() {
  const older = documentOf("board").field("older").value;
  return older > 0 ? html`<p class="more">${plural(older, "older task")}: <code>paddock status --all</code></p>` : null;
}

/** What the header of a group says about all of its rows. */
function Note({phase, section, tasks}) {
  const board = documentOf("board");
  if (phase === "running") return html`<${StuckNote} section=${section} tasks=${tasks} />`;
  if (phase === "queued") {
    const next = board.field("queue").value?.next;
    return next ? html`next landing <${Until} at=${next.eta} lead="in " />` : "";
  }
  if (phase === "ready") {
    const agents = board.field("agents").value;
    return agents?.limit ? `held back: ${[agents.limit, agents.reason].filter(Boolean).join(" ")}` : "";
  }
  return phase === "waiting" ? "for tasks that are not finished" : "";
}

function StuckNote({section, tasks}) {
  const stuck = useComputed(() => section.value.ids.filter((id) => tasks.get(id)?.value.stuck).length).value;
  return stuck ? `${stuck} ${stuck === 1 ? "looks" : "look"} stuck, shown first` : "";
}
