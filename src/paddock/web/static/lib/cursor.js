// The row the keyboard is on, the rows selected, and the section a reader is busy in.

import {signal} from "./ui.js";
import {SECTIONS} from "./sections.js";

const BUSY_MILLISECONDS = 10_000;

/** `{section, id}`, or null while nothing can be chosen. */
export const cursor = signal(null);
export const selected = signal(new Set());
/** The section in which (and above which) nothing may move now, or null. */
export const held = signal(null);

let pointed = null;
let pointedAt = 0;
let keyedAt = 0;

/** True once a key has moved it: until then it stays on the first row. */
export const isSteered = signal(false);

export function steer(section, id) {
  keyedAt = Date.now();
  isSteered.value = true;
  cursor.value = {section, id};
  updateHold();
}

export function toggleSelected(id) {
  const next = new Set(selected.peek());
  if (!next.delete(id)) next.add(id);
  selected.value = next;
}

export function selectAll(ids) {
  selected.value = new Set(ids);
}

/** Forgets ids that are no longer on the board. */
export function keepSelected(isThere) {
  const kept = [...selected.peek()].filter(isThere);
  if (kept.length !== selected.peek().size) selected.value = new Set(kept);
}

/** A key was pressed on the board: the row it concerns must not move. */
export function noteKey() {
  keyedAt = Date.now();
  updateHold();
}

export function notePointer(event) {
  if (event.pointerType === "touch") return;
  pointed = event.target.closest?.("[data-section]")?.dataset.section ?? null;
  pointedAt = Date.now();
  updateHold();
}

export function pointerLeft() {
  pointed = null;
  updateHold();
}

export function release() {
  pointed = null;
  keyedAt = 0;
  updateHold();
}

/** A pointer left lying on the board for ten seconds holds nothing back any more. */
export function updateHold() {
  const now = Date.now();
  const busy = [];
  if (pointed && now - pointedAt < BUSY_MILLISECONDS) busy.push(pointed);
  if (isSteered.peek() && cursor.peek() && now - keyedAt < BUSY_MILLISECONDS) busy.push(cursor.peek().section);
  held.value = busy.sort((one, other) => SECTIONS.indexOf(other) - SECTIONS.indexOf(one))[0] ?? null;
}
