// What people do to tasks. Each is shown at once as sent, and becomes solid when its event arrives.

import {signal} from "./ui.js";
import {post} from "./api.js";
import {plural, someOf} from "./format.js";
import {documentOf, onRecords} from "./state.js";
import {toast, toastRefusal} from "./toasts.js";
import {askForText} from "../parts/ask.js";
import {showOutdated} from "../parts/task/outdated.js";

const FORGET_MILLISECONDS = 20_000;

/** `text`: "required" or "optional" where a message is asked for; `versioned`: concerns the version shown. */
export const ACTIONS = {
  approve: {words: "Approve", done: "approved", key: "a", icon: "approval", versioned: true},
  reject: {
    words: "Reject", done: "rejected", key: "r", icon: "failed", versioned: true, text: "optional",
    label: "What should change? The agent continues with this; if empty, a new attempt starts",
  },
  retry: {words: "Retry", done: "queued to run again", key: "r", icon: "retry"},
  message: {
    words: "Message", done: "sent a message", key: "m", icon: "msg", text: "required", label: "Message to the agent",
  },
  stop: {words: "Stop", done: "asked to stop", key: "s", icon: "stop"},
  cancel: {words: "Cancel task", done: "cancelled", icon: "cancelled"},
};

/** The key that does it to these tasks, or "". What can be rejected and retried is rejected by `r`. */
export function keyOf(action, ids) {
  const isTaken = action === "retry" && ids.some((id) => rowOf(id)?.may.includes("reject"));
  return isTaken ? "" : ACTIONS[action].key ?? "";
}

const pending = new Map();

/** What was sent for a task and is not seen in the log yet: "" or the action. */
export function pendingOf(id) {
  if (!pending.has(id)) pending.set(id, signal(""));
  return pending.get(id);
}

export function startActions() {
  onRecords((found) => {
    for (const {task} of found) if (task && pending.has(task)) pending.get(task).value = "";
  });
}

export function rowOf(id) {
  return documentOf("board").peek()?.tasks.get(id)?.peek() ?? null;
}

/**
 * Does `action` for all of `ids`, asking for what is missing. `heads` are the versions shown, by id, where they
 * are not those on the board. Returns whether anything was done.
 */
export async function perform(action, ids, {message = "", heads = {}} = {}) {
  const kind = ACTIONS[action];
  if (!ids.length) return false;
  let text = message;
  if (kind.text && !text) {
    const isRequired = kind.text === "required";
    text = await askForText({title: `${kind.words} ${someOf(ids)}`, label: kind.label, send: kind.words, isRequired});
    if (text === null) return false;
  }
  const shown = Object.fromEntries(ids.map((id) => [id, heads[id] ?? rowOf(id)?.head ?? null]));
  mark(ids, action);
  try {
    const answer = await post(`tasks/${action}`, bodyOf(kind, action, ids, shown, text));
    settle(action, answer, text);
    return answer.done.length > 0;
  } catch (error) {
    mark(ids, "");
    toastRefusal(error, `${kind.words} ${someOf(ids)}`);
    return false;
  }
}

/** Out of the queue again, unless it has landed by now: then the refusal says so. */
async function takeBack(names) {
  const undone = [];
  for (const id of names) {
    try {
      await post(`queue/changes/${encodeURIComponent(id)}/cancel`, {reason: "approval taken back"});
      undone.push(id);
    } catch (error) {
      toastRefusal(error, `Undo ${id}`);
    }
  }
  if (undone.length) toast({words: `${someOf(undone)} ${undone.length === 1 ? "waits" : "wait"} for approval again`});
}

function bodyOf(kind, action, ids, heads, text) {
  const tasks = kind.versioned ? ids.map((id) => ({id, head: heads[id]})) : ids;
  return action === "message" ? {tasks, text} : {tasks, message: text};
}

function mark(ids, action) {
  for (const id of ids) {
    const sent = pendingOf(id);
    sent.value = action;
    if (action) setTimeout(() => { if (sent.peek() === action) sent.value = ""; }, FORGET_MILLISECONDS);
  }
}

function settle(action, {done, refused}, text) {
  const names = done.map((one) => one.id ?? one);
  const act = action === "approve" ? {words: "Undo", run: () => takeBack(names)} : null;
  if (names.length) toast({words: `${someOf(names)} ${ACTIONS[action].done}`, act});
  mark(refused.map((one) => one.id), "");
  const outdated = refused.filter((one) => one.code === "outdated");
  const others = refused.filter((one) => one.code !== "outdated");
  for (const one of others.slice(0, 3)) toast({words: one.message, hint: one.hint, tone: "refused"});
  if (others.length > 3) toast({words: `${plural(others.length - 3, "more task")} refused`, tone: "refused"});
  if (outdated.length) showOutdated(action, outdated, text);
}
