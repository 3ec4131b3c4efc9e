// What somebody writes for new tasks: kept in this browser until it is sent, and turned into a request.

import {recall, remember} from "./memory.js";
import {root} from "./place.js";

const NAME = `draft.tasks${root}`;

export function emptyTask() {
  return {brief: "", title: "", agent: "", engine: "", kind: "", after: "", waits: [], priority: "", paths: "",
    attempts: ""};
}

export function recallDraft() {
  const kept = recall(NAME);
  if (!kept || !Array.isArray(kept.tasks) || !kept.tasks.length) return {convoy: "", title: "", tasks: [emptyTask()]};
  return {convoy: kept.convoy ?? "", title: kept.title ?? "",
    tasks: kept.tasks.map((task) => ({...emptyTask(), ...task}))};
}

export function keepDraft(draft) {
  const isEmpty = !draft.convoy && !draft.title && draft.tasks.every((task) => !task.brief && !task.title);
  remember(NAME, isEmpty ? null : draft);
}

export function forgetDraft() {
  remember(NAME, null);
}

/** What the server is asked. Tasks of one draft wait for each other by key. */
export function requestOf({convoy, title, tasks}) {
  const isMany = tasks.length > 1;
  return {
    tasks: tasks.map((task, index) => ({
      brief: task.brief.trim(),
      ...given({title: task.title.trim(), agent: task.agent, engine: task.engine, kind: task.kind}),
      ...(isMany ? {key: keyOf(index)} : {}),
      after: [...namesIn(task.after), ...task.waits.filter((other) => other < index).map(keyOf)],
      paths: namesIn(task.paths),
      ...numbers({priority: task.priority, attempts: task.attempts}),
    })),
    ...given({convoy: convoy.trim(), title: title.trim()}),
  };
}

/** The place of a complaint such as "… - at `$.tasks[1].priority`": `{index, field}`, or null. */
export function placeOf(message) {
  const found = /\$\.tasks\[(\d+)\]\.(\w+)/.exec(message);
  if (found) return {index: Number(found[1]), field: found[2]};
  const top = /\$\.(convoy|title)\b/.exec(message);
  return top ? {index: -1, field: top[1]} : null;
}

function keyOf(index) {
  return `task-${index + 1}`;
}

function namesIn(text) {
  return text.split(/[\s,]+/).filter(Boolean);
}

function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

function numbers(fields) {
  const filled = Object.entries(fields).filter(([, text]) => String(text).trim() !== "");
  return Object.fromEntries(filled.map(([name, text]) => [name, Number(text)]));
}
