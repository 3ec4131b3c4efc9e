// One task as a row of a group. The same markup is a card where the layout says so.

import {html, useComputed} from "../../lib/ui.js";
import {pendingOf} from "../../lib/actions.js";
import {cursor, selected, toggleSelected} from "../../lib/cursor.js";
import {findingsWords, money} from "../../lib/format.js";
import {taskPath} from "../../lib/route.js";
import {documentOf} from "../../lib/state.js";
import {Age, Until} from "../age.js";
import {Change, Mark} from "../badge.js";
import {Words} from "../words.js";

const STARTS_MILLISECONDS = 60_000;

/** `row` is a signal: this row alone is drawn again when it changes. */
export function TaskRow({row, section, isLeaving}) {
  const task = row.value;
  const isHere = useComputed(() => cursor.value?.id === task.id && cursor.value.section === section).value;
  const isSelecting = useComputed(() => selected.value.size > 0).value;
  const sent = pendingOf(task.id).value;
  const classes = `r${isLeaving ? " leaving" : ""}${sent ? " sent" : ""}`;
  if (isSelecting) return html`<${SelectableRow} task=${task} classes=${classes} isHere=${isHere} />`;
  return html`<a class=${classes} href=${taskPath(task.id)} data-task=${task.id} aria-current=${isHere ? "true" : null}>
    <${Mark} of=${task.phase} /><${Cells} task=${task} sent=${sent} /></a>`;
}

function SelectableRow({task, classes, isHere}) {
  const isChosen = useComputed(() => selected.value.has(task.id)).value;
  return html`<label class=${classes} data-task=${task.id} aria-current=${isHere ? "true" : null}>
    <input type="checkbox" checked=${isChosen} aria-label=${`Select ${task.id}`}
      onChange=${() => toggleSelected(task.id)} />
    <${Cells} task=${task} sent="" /></label>`;
}

function Cells({task, sent}) {
  const who = [task.agent, task.engine].filter(Boolean).join(" · ");
  return html`<span class="id">${task.id}</span>
    <span class="ttl cut"><span class="w2">${task.id}</span>${task.title}</span>
    <span class="step cut">${sent ? html`<b>${sent} sent</b>` : html`<${Step} task=${task} />`}</span>
    <span class="who">${who}</span>
    <span class="age"><${Age} at=${task.phase === "running" ? task.started ?? task.since : task.since} /></span>
    <span class="usd">${money(task.cost_usd)}</span>
    <span class="dif"><${Change} insertions=${task.insertions} deletions=${task.deletions} /></span>`;
}

/** What it does, or why it does not. */
function Step({task}) {
  if (task.stuck) {
    const last = task.step && html` · last: <${Words} text=${task.step} />`;
    return html`<span class="warn"><b><${Words} text=${task.stuck} /></b>${last}</span>`;
  }
  const found = findingsWords(task);
  const before = found && html`<b class=${task.blocking_findings ? "warn" : ""}>${found}</b> · `;
  if (task.phase === "running" && task.need !== "answer") {
    return html`${before}<${Words} text=${task.step || task.reason || unseen(task)} />`;
  }
  const doing = task.phase === "reviewing" && task.step && html` · <${Words} text=${task.step} />`;
  const lands = task.eta && html`${task.reason && " · "}<${Until} at=${task.eta} />`;
  return html`${before}<${Words} text=${task.reason} />${doing}${lands}`;
}

/** No step was told of: it is new, or nobody looks. */
function unseen({started}) {
  if (documentOf("board").field("daemon").value.state !== "running") return "unknown while no daemon is running";
  return Date.now() - Date.parse(started) < STARTS_MILLISECONDS ? "starting" : "no step seen yet";
}

export function ColumnHeads() {
  return html`<div class="r colh" aria-hidden="true"><span></span><span></span><span>task</span><span>
    last step, or why not</span>
    <span>agent · engine</span><span class="num">age</span><span class="num">cost</span><span class="num">change</span>
      </div>`;
}
