// Who needs you: approve, answer, blocked, failed, each with what one key can do about it.

import {html, useComputed, useSignal} from "../../lib/ui.js";
import {pendingOf} from "../../lib/actions.js";
import {cursor, release, selectAll, selected, toggleSelected} from "../../lib/cursor.js";
import {findingsWords, money, plural} from "../../lib/format.js";
import {taskPath} from "../../lib/route.js";
import {documentOf} from "../../lib/state.js";
import {ActionButton} from "../action.js";
import {Age} from "../age.js";
import {AlertRow} from "../alerts/alert.js";
import {Change, Need} from "../badge.js";
import {countNotices, Notices} from "./notices.js";
import {VirtualRows} from "../virtual.js";
import {Unblock, Words} from "../words.js";

/** What is offered beside each need, the likeliest first; only what is legal is drawn. */
const OFFERED = {
  approve: ["approve", "diff", "reject"],
  answer: ["message", "diff"],
  blocked: ["retry", "message", "cancel"],
  failed: ["retry", "message", "cancel"],
};
const BUTTONS = 2;
const SHOWN = 20;
/** Such an alert concerns the whole fleet: it comes before any task. */
const isPage = ({severity}) => severity === "page";

export function Needs({tasks, section, isFiltered}) {
  const told = documentOf("board").field("notices").value;
  const notices = isFiltered ? [] : told;
  const open = documentOf("board").field("alerts").value;
  const alerts = isFiltered ? [] : open;
  const {ids, leaving, moved, count} = section.value;
  const isWhole = useSignal(false);
  if (!ids.length && !notices.length) return null;
  const ready = ids.filter((id) => !leaving.has(id) && tasks.get(id)?.peek().need === "approve");
  const pinned = cursor.value?.section === "needs" ? cursor.value.id : null;
  const isCut = !isWhole.value && ids.length > SHOWN + 1 && !(ids.indexOf(pinned) >= SHOWN);
  const draw = (id) => {
    const row = tasks.get(id);
    return row && html`<${NeedRow} key=${id} row=${row} isLeaving=${leaving.has(id)} />`;
  };
  return html`<section class="panel needs" aria-label="Needs you" data-section="needs">
    <header><h2>Needs you</h2><span class="dim">${count + countNotices(notices, alerts)}</span>
      <span class="end">
        ${moved > 0 && html`<button type="button" class="b bare" onClick=${release}>${moved} moved</button>`}
        ${ready.length > 1 && html`${ready.length} can go with one key
          <button type="button" class="b" onClick=${() => selectAll(ready)}>Select all <kbd>A</kbd></button>`}</span>
            </header>
    ${alerts.filter(isPage).map((alert) => html`<${AlertRow} key=${alert.id} alert=${alert} />`)}
    <${VirtualRows} keys=${isCut ? ids.slice(0, SHOWN) : ids} draw=${draw} pinned=${pinned} />
    ${isCut && html`<button type="button" class="more" onClick=${() => { isWhole.value = true; }}>
      ${ids.length - SHOWN} more need you</button>`}
    <${Notices} notices=${notices} alerts=${alerts} isShown=${(alert) => !isPage(alert)} />
  </section>`;
}

function NeedRow({row, isLeaving}) {
  const task = row.value;
  const isHere = useComputed(() => cursor.value?.id === task.id && cursor.value.section === "needs").value;
  const isSelecting = useComputed(() => selected.value.size > 0).value;
  const sent = pendingOf(task.id).value;
  const classes = `n${isLeaving ? " leaving" : ""}${sent ? " sent" : ""}`;
  return html`<div class=${classes} data-task=${task.id} aria-current=${isHere ? "true" : null}>
    ${isSelecting ? html`<${NeedSelect} task=${task} />` : html`<${Need} of=${task.need || task.phase} />`}
    <div class="body cut">
      <div class="tt"><span class="id">${task.id}</span><a class="cut strong" href=${taskPath(task.id)}>${task.title}
        </a></div>
      <div class="why cut">${sent ? `${sent} sent` : html`<${Why} task=${task} />`}</div>
    </div>
    <span class="age"><${Age} at=${task.since} /></span>
    <div class="acts"><${Offered} task=${task} isHere=${isHere && !isSelecting} /></div>
  </div>`;
}

function NeedSelect({task}) {
  const isChosen = useComputed(() => selected.value.has(task.id)).value;
  const toggle = () => toggleSelected(task.id);
  return html`<label class="st plain">
    <input type="checkbox" checked=${isChosen} onChange=${toggle} aria-label=${`Select ${task.id}`} />
    ${task.need}</label>`;
}

function Offered({task, isHere}) {
  if (task.role === "plan" && task.phase === "done") return html`<${PlanLink} id=${task.id} />`;
  const legal = (OFFERED[task.need] ?? ["retry", "message"]).filter((action) => task.may.includes(action)).slice(0,
    BUTTONS);
  return legal.map((action, index) => {
    if (action === "diff") return html`<${DiffLink} id=${task.id} showKey=${isHere} />`;
    return html`<${ActionButton} action=${action} id=${task.id} need=${task.need} isMain=${isHere && index === 0}
      showKey=${isHere} />`;
  });
}

function PlanLink({id}) {
  return html`<a class="b" href=${taskPath(id)} aria-label=${`Plan of ${id}`}>Look at the plan</a>`;
}

function DiffLink({id, showKey}) {
  return html`<a class="b" href=${`${taskPath(id)}#diff`} aria-label=${`Diff of ${id}`}>
    Diff ${showKey && html`<kbd>d</kbd>`}</a>`;
}

function Why({task}) {
  const parts = [];
  const found = findingsWords(task);
  if (found) parts.push(html`<b class=${task.blocking_findings ? "warn" : ""}>${found}</b>`);
  if (task.reason) parts.push(html`<${Words} text=${task.reason} />`);
  if (task.unblock) parts.push(html`<${Unblock} text=${task.unblock} />`);
  if (task.insertions || task.deletions) {
    const where = task.files ? ` in ${plural(task.files, "file")}` : "";
    parts.push(html`<${Change} insertions=${task.insertions} deletions=${task.deletions} />${where}`);
  }
  if (task.cost_usd != null) parts.push(money(task.cost_usd));
  return parts.map((part, index) => html`${index > 0 && " · "}${part}`);
}
