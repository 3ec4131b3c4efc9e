// The board's keys: they act on the selected rows, else on the row the keyboard is on.

import {ACTIONS, perform, rowOf} from "../../lib/actions.js";
import {cursor, noteKey, selectAll, selected, steer, toggleSelected} from "../../lib/cursor.js";
import {useKeys} from "../../lib/keys.js";
import {go, taskPath} from "../../lib/route.js";
import {toast} from "../../lib/toasts.js";
import {reachable, sectionOf} from "./arranged.js";
import {performSelected} from "./bulk.js";
import {folded} from "./group.js";

export function useBoardKeys({field, isPeeking}) {
  useKeys({
    j: ["move down", () => move(1)],
    k: ["move up", () => move(-1)],
    down: () => move(1),
    up: () => move(-1),
    space: ["peek and reply", () => { isPeeking.value = !isPeeking.value; }],
    enter: ["open", () => cursor.peek() && go(taskPath(cursor.peek().id))],
    a: ["approve", () => act("approve")],
    A: ["select all that can be approved", selectApprovable],
    r: ["reject or retry", () => act(currentMay("reject") ? "reject" : "retry")],
    m: ["message", () => act("message")],
    s: ["stop", () => act("stop")],
    d: ["diff", () => cursor.peek() && go(`${taskPath(cursor.peek().id)}#diff`)],
    x: ["select", select],
    "/": ["filter", () => field.current?.focus()],
    escape: ["clear selection or filter", (event) => clear(event, {field, isPeeking})],
  }, {scope: "Board"});
}

function move(step) {
  const rows = reachable((section) => folded.has(section));
  if (!rows.length) return;
  const at = cursor.peek();
  const index = rows.findIndex((row) => row.id === at?.id && row.section === at.section);
  const next = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
  steer(next.section, next.id);
  focusOn(next);
}

function subjects() {
  return selected.peek().size ? [...selected.peek()] : cursor.peek() ? [cursor.peek().id] : [];
}

function currentMay(action) {
  return subjects().some((id) => rowOf(id)?.may.includes(action));
}

async function act(action) {
  noteKey();
  if (selected.peek().size) return performSelected(action);
  const at = cursor.peek();
  if (!at) return;
  const row = rowOf(at.id);
  if (!row?.may.includes(action)) {
    const words = `${at.id} is ${row?.phase ?? "gone"}: ${ACTIONS[action].words.toLowerCase()} is not possible now`;
    toast({words, hint: row?.reason ?? "", tone: "refused"});
    return;
  }
  const isDone = await perform(action, [at.id]);
  if (isDone && at.section === "needs" && cursor.peek()?.id === at.id) move(1);
}

function select() {
  const at = cursor.peek();
  if (!at) return;
  steer(at.section, at.id);
  toggleSelected(at.id);
  focusOn(at);
}

function selectApprovable() {
  selectAll(sectionOf("needs").peek().ids.filter((id) => rowOf(id)?.need === "approve"));
}

function clear(event, {field, isPeeking}) {
  if (event.target === field.current) {
    if (!field.current.value) field.current.blur();
    return false;
  }
  if (selected.peek().size) selectAll([]);
  else isPeeking.value = false;
  return true;
}

/** The row the keyboard moved to has the focus too, so that a screen reader follows. */
function focusOn({section, id}) {
  requestAnimationFrame(() => {
    const row = document.querySelector(`[data-section="${section}"] [data-task="${CSS.escape(id)}"]`);
    const target = row?.matches("a") ? row : row?.querySelector("input[type=checkbox], a");
    target?.focus({preventScroll: true});
    row?.scrollIntoView({block: "nearest"});
  });
}
