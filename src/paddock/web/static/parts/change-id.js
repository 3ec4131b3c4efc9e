// The name of a change, with the way to its task if it has one.

import {html} from "../lib/ui.js";
import {taskPath} from "../lib/route.js";

const IS_TASK = /^t\d+$/;

/** A branch that somebody queued has no task. */
export function ChangeId({id, task = IS_TASK.test(id) ? id : null}) {
  return task ? html`<a class="id" href=${taskPath(task)}>${id}</a>` : html`<span class="id">${id}</span>`;
}
