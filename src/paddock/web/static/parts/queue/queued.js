// What is queued: how many stand where, and each change by name, in its order.

import {html, useSignal} from "../../lib/ui.js";
import {plural} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {Age} from "../age.js";
import {State} from "../badge.js";
import {ChangeId} from "../change-id.js";
import {Cars, PLACE_NAMES, placeOf} from "./places.js";

const FIRST_SHOWN = 10;

export function Standing({queue}) {
  const count = queue.changes.size;
  const shown = PLACE_NAMES.filter((name) => queue.standing[name].length);
  return html`<section class="panel">
    <header><h2>${count > 1 ? `Where the ${count} stand` : "Where changes stand"}</h2></header>
    <div class="in stages">${shown.length
      ? shown.map((name) => html`<div key=${name} data-place=${name}>
          <span class="acts"><${State} ...${placeOf(name)} />
            <span class="dim">${queue.standing[name].length}</span></span>
          <${Cars} ids=${queue.standing[name]} queue=${queue} /></div>`)
      : html`<p class="dim">Nothing is queued.</p>`}</div>
  </section>`;
}

export function QueuedChanges({queue}) {
  const isWhole = useSignal(false);
  const ids = queue.order.filter((id) => queue.changes.has(id));
  if (!ids.length) return null;
  const shown = isWhole.value ? ids : ids.slice(0, FIRST_SHOWN);
  return html`<section class="panel gap-top" aria-label="In the queue">
    <header><h2>In the queue</h2><span class="end">${plural(ids.length, "change")}</span></header>
    <div class="in tw">
      <table class="flat listed">${shown.map((id) =>
        html`<${QueuedChange} key=${id} id=${id} queue=${queue} />`)}</table>
      ${ids.length > shown.length && html`<button type="button" class="more"
        onClick=${() => { isWhole.value = true; }}>${ids.length - shown.length} more</button>`}</div>
  </section>`;
}

function QueuedChange({id, queue}) {
  const row = queue.changes.get(id).value;
  const off = session.value?.read_only ? "true" : null;
  const steer = (what, done) => () =>
    request(`queue/changes/${encodeURIComponent(id)}/${what}`, {}, {done: `${id} ${done}`, about: id});
  return html`<tr data-change=${id}>
    <td class="nowrap"><${State} ...${placeOf(row.place)} /></td>
    <td><${ChangeId} id=${id} task=${row.task} /></td>
    <td class="words isolate">${row.title}</td>
    <td class="num dim nowrap"><${Age} at=${row.since} /></td>
    <td class="num nowrap">
      <button type="button" class="b bare" aria-disabled=${off} aria-label=${`Move ${id} to the front`}
        onClick=${steer("move", "moved to the front")}>to the front</button>
      <button type="button" class="b bare" aria-disabled=${off} aria-label=${`Take ${id} out of the queue`}
        onClick=${steer("cancel", "taken out of the queue")}>remove</button></td>
  </tr>`;
}
