// The way of a task so far, what comes next, and all that happened to it.

import {Fragment, html, useLayoutEffect, useRef, useState} from "../../lib/ui.js";
import {timeOfDay, timeWithSeconds} from "../../lib/format.js";
import {Age, Until} from "../age.js";
import {Icon, State} from "../badge.js";
import {openRecord} from "../record.js";
import {Words} from "../words.js";

const SHOWN = 8;
const SHORT_CHANGE = 16;
const SHORT_STORY = 40;

/** The steps in a strip: facts, then what is expected. */
export function Way({page, changes}) {
  changes.value;
  const steps = rowsOf(page).filter((row) => row.step);
  const shown = steps.slice(-SHOWN);
  const isOn = ["running", "reviewing"].includes(page.task.phase);
  const strip = useRef(null);
  useLayoutEffect(() => { strip.current.scrollLeft = strip.current.scrollWidth; }, [steps.length, page.next.length]);
  return html`<ol class="path panel" aria-label="The way so far" ref=${strip}>
    ${steps.length > shown.length
      && html`<li class="plain"><span class="st plain"><${Icon} name="more" />${steps.length - shown.length} before
      </span><div class="dim">in all events</div></li>`}
    ${shown.map((row, index) => html`
      <${StepItem} key=${row.seq} row=${row} isCurrent=${isOn && index === shown.length - 1} />`)}
    ${page.next.map((step, index) => html`<li key=${step.words} class="plain"><span class="st plain">
      <${Icon} name=${step.icon} />${step.words}</span>
      <div class="dim isolate two-lines" title=${step.detail}><${Words} text=${step.detail} /></div><small>
        ${step.at ? html`<${Until} at=${step.at} />` : index ? "then" : "next"}</small></li>`)}
  </ol>`;
}

function StepItem({row, isCurrent}) {
  return html`<li class=${row.state} aria-current=${isCurrent ? "step" : null} title=${row.words}>
    <${State} of=${row.state} icon=${row.icon} words=${row.step} />
    <div class="soft isolate two-lines"><${Words} text=${row.detail} /></div>
    <small>${isCurrent ? html`now, <${Age} at=${row.at} />` : timeOfDay(row.at)}</small></li>`;
}

/** Everything, newest last. Beside a change of some length it is folded until asked for. */
export function AllEvents({page, changes, openRun}) {
  const [isOpen, setOpen] = useState(() => isShort(page));
  changes.value;
  const rows = isOpen ? rowsOf(page) : [];
  return html`<details class="panel events" open=${isOpen}
    onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary><${Icon} name="chev" /><h2>All events</h2><span class="end">${page.timeline.size}</span></summary>
    ${isOpen && html`<ol class="in">${rows.map((row) => html`<li key=${row.seq} title=${`by ${row.actor}`}>
      <span class="dim">${timeWithSeconds(row.at)}</span><span class=${`ico ${row.state}`}><${Icon} name=${row.icon} />
        </span>
      <span class="isolate">${row.attempt && html`<span class="id">${row.attempt} </span>`}
        <${Words} text=${row.words} />
        ${row.run && html`<${Fragment}> <button type="button" class="link" onClick=${() => openRun(row.run)}>log
          </button></${Fragment}>`}</span>
      <button type="button" class="link dim" aria-label=${`Event ${row.seq}`} onClick=${() => openRecord(row.seq)}>
        ${row.seq}</button></li>`)}</ol>`}
  </details>`;
}

function isShort({task, timeline, versions}) {
  const lines = versions.length ? task.insertions + task.deletions : 0;
  return lines <= SHORT_CHANGE && timeline.size <= SHORT_STORY;
}

function rowsOf({timeline}) {
  return [...timeline.values()].map((row) => row.value).sort((one, other) => one.seq - other.seq);
}
