// With rows selected: what can be done to all of them, and for how many it cannot.

import {html} from "../../lib/ui.js";
import {ACTIONS, keyOf, pendingOf, perform, rowOf} from "../../lib/actions.js";
import {selectAll, selected} from "../../lib/cursor.js";

const OFFERED = ["approve", "reject", "retry", "stop", "message", "cancel"];

export function BulkBar() {
  const ids = [...selected.value];
  if (!ids.length) return null;
  const sent = ids.filter((id) => pendingOf(id).value !== "").length;
  return html`<div class="bulk panel" role="region" aria-label="Selected tasks">
    <b>${ids.length} selected</b>${sent > 0 && html`<span class="dim" role="status">${sent} sent …</span>`}
    ${OFFERED.map((action) => html`<${BulkButton} key=${action} action=${action} ids=${ids} isSent=${sent > 0} />`)}
    <button type="button" class="b bare" onClick=${() => selectAll([])}>Clear <kbd>esc</kbd></button>
  </div>`;
}

function BulkButton({action, ids, isSent}) {
  const legal = legalOf(action, ids);
  const {words} = ACTIONS[action];
  const key = keyOf(action, ids);
  const not = ids.length - legal.length;
  const title = not ? `not for ${not} of ${ids.length}` : null;
  const off = legal.length && !isSent ? null : "true";
  return html`<button type="button" class="b" aria-disabled=${off} title=${title}
    onClick=${() => { if (!off) performSelected(action); }}>
    ${words} ${legal.length > 0 && legal.length}${key && legal.length > 0 && html` <kbd>${key}</kbd>`}
    ${not > 0 && legal.length > 0 && html`<span class="dim">not ${not}</span>`}</button>`;
}

function legalOf(action, ids) {
  return ids.filter((id) => rowOf(id)?.may.includes(action));
}

/** Does it for those of the selected that allow it; they are no longer selected then. */
export async function performSelected(action) {
  const legal = legalOf(action, [...selected.peek()]);
  if (!legal.length || !(await perform(action, legal))) return;
  selectAll([...selected.peek()].filter((id) => !legal.includes(id)));
}
