// Keeps the board's sections in order as its rows change, at most once for each frame.

import {effect, signal, useEffect} from "../../lib/ui.js";
import {cursor, held, isSteered, keepSelected, selected, updateHold} from "../../lib/cursor.js";
import {Arrangement, SECTIONS, sectionsOf} from "../../lib/sections.js";
import {documentOf} from "../../lib/state.js";
import {subject} from "../palette.js";

const EMPTY = {ids: [], leaving: new Set(), moved: 0, count: 0};
const sections = new Map(SECTIONS.map((name) => [name, signal(EMPTY)]));
const arrangement = new Arrangement();
const keep = signal(null);
const woken = signal(0);
let timer = 0;

/** A signal of `{ids, leaving, moved, count}`, the same object while nothing of it changed. */
export function sectionOf(name) {
  return sections.get(name);
}

/** Only rows that pass all of `tests` are shown; null is no test. Everything is then drawn where it belongs. */
export function arrange(tests) {
  const given = tests.filter(Boolean);
  arrangement.reset();
  keep.value = given.length ? (row) => given.every((test) => test(row)) : null;
}

export function useArrangement() {
  useEffect(() => {
    const stop = effect(step);
    const beat = setInterval(updateHold, 1000);
    return () => {
      stop();
      clearInterval(beat);
      clearTimeout(timer);
      arrangement.reset();
      subject.value = [];
    };
  }, []);
}

function step() {
  const document = documentOf("board");
  document.changesOf("tasks").value;
  woken.value;
  const needs = document.field("needs").value;
  const tests = keep.value;
  const busyIn = held.value;
  const tasks = document.peek()?.tasks;
  if (!tasks) return;
  const rows = [...tasks.values()].map((row) => row.peek());
  const wanted = sectionsOf(rows, needs ?? [], tests);
  const {sections: drawn, again} = arrangement.step(wanted, {held: busyIn, now: Date.now()});
  for (const [name, next] of drawn) if (!isSame(sections.get(name).peek(), next)) sections.get(name).value = next;
  keepSelected((id) => tasks.has(id));
  keepCursor(drawn);
  clearTimeout(timer);
  if (again !== null) timer = setTimeout(() => { woken.value += 1; }, again + 5);
}

/** Until a key moves it the cursor is on the first row; a row that went hands it to the one that took its place. */
function keepCursor(drawn) {
  const at = cursor.peek();
  const rows = SECTIONS.flatMap((section) => drawn.get(section).ids.map((id) => ({section, id})));
  const isThere = at && drawn.get(at.section).ids.includes(at.id);
  if (isSteered.peek() && isThere) return;
  const index = isSteered.peek() && at ? Math.min(lastIndex, rows.length - 1) : 0;
  const next = rows[Math.max(0, index)] ?? null;
  if (next?.id !== at?.id || next?.section !== at?.section) cursor.value = next;
}

let lastIndex = 0;

/** All rows that the keyboard can reach, in order. */
export function reachable(isFolded) {
  return SECTIONS.flatMap((section) => (isFolded(section) ? []
    : sections.get(section).peek().ids.map((id) => ({section, id}))));
}

effect(() => {
  const at = cursor.value;
  subject.value = selected.value.size ? [...selected.value] : at ? [at.id] : [];
  if (at) lastIndex = Math.max(0,
    reachable(() => false).findIndex((one) => one.id === at.id && one.section === at.section));
});

function isSame(one, other) {
  return one.moved === other.moved && one.count === other.count && one.ids.length === other.ids.length
    && one.ids.every((id, index) => id === other.ids[index]) && one.leaving.size === other.leaving.size
    && [...one.leaving].every((id) => other.leaving.has(id));
}
