// What lands next, and when.

import {html} from "../../lib/ui.js";
import {clock, countdown, duration} from "../../lib/format.js";
import {TimeLeft} from "../age.js";
import {Cars} from "./places.js";

export function LandsNext({queue}) {
  return html`<section class="panel">
    <header><h2>Lands next</h2><span class="end"><${WholeQueue} queue=${queue} /></span></header>
    <div class="in">${queue.next.length
      ? html`<ol class="next">${queue.next.map((one, index) =>
        html`<${NextLanding} key=${`${one.title} ${index}`} one=${one} isFirst=${index === 0} queue=${queue} />`)}</ol>`
      : html`<p class="dim">Nothing is queued. Approving a task queues its change, and so does
        ${" "}<code>paddock land t3</code>.</p>`}</div>
  </section>`;
}

/** When all of it is decided, or why nobody can tell. */
function WholeQueue({queue}) {
  const count = queue.changes.size;
  if (!count) return null;
  if (queue.all_at) {
    return html`${count === 1 ? "decided" : `all ${count} decided`} in about <${TimeLeft} at=${queue.all_at} />`;
  }
  return queue.next.some((one) => one.at) ? null : `no estimate ${whyNoEstimate(queue)}`;
}

function whyNoEstimate(queue) {
  if (queue.state !== "open" && queue.state !== "draining") return `while ${queue.state}`;
  if (queue.daemon !== "running") return "without a daemon";
  return queue.typical_seconds == null ? "before a CI run has passed" : "while the remote does not answer";
}

function NextLanding({one, isFirst, queue}) {
  const order = isFirst ? "first" : "then";
  return html`<li>
    <span class="when">${one.at ? html`<${When} at=${one.at} isSure=${Boolean(one.run)} />` : order}
      <small>${one.at && html`<${Certainty} one=${one} />`}</small></span>
    <div><span class="strong">${one.title}</span> <span class="dim">${one.words}</span>
      <${Cars} ids=${one.members} queue=${queue} /></div>
  </li>`;
}

function When({at, isSure}) {
  const left = (Date.parse(at) - clock.value) / 1000;
  if (left <= 0) return "any moment";
  return isSure ? countdown(left) : `about ${left < 90 ? countdown(left) : duration(left)}`;
}

function Certainty({one}) {
  if (one.late) return Date.parse(one.late) > clock.value && html`9 in 10 by <${TimeLeft} at=${one.late} />`;
  return one.odds != null && `if it passes, ${Math.round(one.odds * 10)} in 10 do`;
}
