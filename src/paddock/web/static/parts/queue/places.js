// Where a queued change stands: the same words, icon and colour wherever it is shown.

import {html} from "../../lib/ui.js";
import {taskPath} from "../../lib/route.js";

const PLACES = {
  waiting: {of: "waiting", icon: "waiting", words: "waits for a slot"},
  screening: {of: "running", icon: "sieve", words: "tested alone"},
  passed: {of: "landed", icon: "landed", words: "passed alone"},
  riding: {of: "queued", icon: "train", words: "on a train"},
  suspects: {of: "blocked", icon: "split", words: "suspect"},
};
export const PLACE_NAMES = Object.keys(PLACES);

export function placeOf(name) {
  return PLACES[name] ?? PLACES.waiting;
}

/** The changes by name, each as a car of a train. */
export function Cars({ids, queue, most = 40}) {
  return html`<div class="cars">${ids.slice(0, most).map((id) => html`<${Car} key=${id} id=${id} queue=${queue} />`)}
    ${ids.length > most && html`<span class="dim">and ${ids.length - most} more</span>`}</div>`;
}

function Car({id, queue}) {
  const row = queue.changes.get(id)?.value;
  const look = `car ${placeOf(row?.place).of}`;
  const words = row ? `${row.title}: ${row.words}` : id;
  if (!row?.task) return html`<span class=${look} title=${words}>${id}</span>`;
  return html`<a class=${look} href=${taskPath(row.task)} title=${words}>${id}</a>`;
}
