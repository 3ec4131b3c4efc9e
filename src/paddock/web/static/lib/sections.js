// Where each task stands on the board, and how it gets there without anything moving under the reader's eyes.

import {FINISHED} from "./phases.js";

export const GROUPS = [
  "running", "reviewing", "approval", "queued", "ready", "waiting", "blocked", "failed", "landed", "done", "noop",
  "cancelled",
];
export const SECTIONS = ["needs", ...GROUPS];
const LEAVE_MILLISECONDS = 600;

const LATEST_FIRST = new Set([...FINISHED, "failed"]);

/** The ids of each section in the order they should stand. A task that needs a person stands there alone. */
export function sectionsOf(rows, needs, keep) {
  const found = new Map(SECTIONS.map((name) => [name, []]));
  const byId = new Map();
  const needing = new Set(needs);
  for (const row of rows) {
    byId.set(row.id, row);
    if (!needing.has(row.id) && (!keep || keep(row))) found.get(row.phase)?.push(row);
  }
  for (const [phase, members] of found) members.sort(orderOf(phase));
  const sections = new Map([...found].map(([phase, members]) => [phase, members.map((row) => row.id)]));
  sections.set("needs", needs.filter((id) => byId.has(id) && (!keep || keep(byId.get(id)))));
  return sections;
}

function orderOf(phase) {
  if (phase === "running") return byStuckAndAge;
  if (phase === "queued") return (a, b) => (a.place ?? Infinity) - (b.place ?? Infinity) || byNumber(a, b);
  if (phase === "ready") return (a, b) => b.priority - a.priority || byNumber(a, b);
  if (LATEST_FIRST.has(phase)) return (a, b) => compare(b.since, a.since) || byNumber(b, a);
  return byNumber;
}

function byStuckAndAge(a, b) {
  return Boolean(b.stuck) - Boolean(a.stuck) || compare(a.started, b.started) || byNumber(a, b);
}

function compare(one, other) {
  if (one === other) return 0;
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

function byNumber(a, b) {
  return Number(a.id.slice(1)) - Number(b.id.slice(1));
}

/**
 * What is drawn. A task that belongs elsewhere now stays dimmed in its place for 600 ms; sections down to the one
 * a reader is busy in keep their rows as they are, and count what waits.
 */
export class Arrangement {
  constructor() {
    this.shown = new Map();
    this.missedSince = new Map();
  }

  /** Forgets what was drawn: the next step draws everything where it belongs. */
  reset() {
    this.shown.clear();
    this.missedSince.clear();
  }

  /** `held` is the section a reader is busy in, or null. `again` is when to step next, in milliseconds, or null. */
  step(wanted, {held, now}) {
    const lastHeld = SECTIONS.indexOf(held);
    const known = new Set([...wanted.values()].flat());
    const staying = new Map();
    let again = null;
    for (const [index, name] of SECTIONS.entries()) {
      const {stay, wake} = this.stayIn(name, wanted.get(name) ?? [], known, {now, isHeld: index <= lastHeld});
      staying.set(name, stay);
      if (wake !== null) again = Math.min(again ?? Infinity, wake);
    }
    const elsewhere = new Set([...staying.values()].flatMap((stay) => [...stay.keys()]));
    const sections = new Map();
    for (const [index, name] of SECTIONS.entries()) {
      const want = wanted.get(name) ?? [];
      const isHeld = index <= lastHeld && this.shown.has(name);
      const ids = isHeld ? this.keep(name, known) : insert(want.filter((id) => !elsewhere.has(id)), staying.get(name));
      const drawn = new Set(ids);
      const leaving = new Set(staying.get(name).keys());
      const moved = isHeld ? leaving.size + want.filter((id) => !drawn.has(id)).length : 0;
      sections.set(name, {ids, leaving, moved, count: want.length});
    }
    this.shown = new Map([...sections].map(([name, {ids}]) => [name, ids]));
    return {sections, again};
  }

  keep(name, known) {
    return this.shown.get(name).filter((id) => known.has(id));
  }

  stayIn(name, want, known, {now, isHeld}) {
    const wanted = new Set(want);
    const stay = new Map();
    let wake = null;
    for (const [index, id] of (this.shown.get(name) ?? []).entries()) {
      const key = `${name} ${id}`;
      if (wanted.has(id) || !known.has(id)) {
        this.missedSince.delete(key);
        continue;
      }
      if (!this.missedSince.has(key)) this.missedSince.set(key, now);
      const left = this.missedSince.get(key) + LEAVE_MILLISECONDS - now;
      if (isHeld || left > 0) stay.set(id, index);
      else this.missedSince.delete(key);
      if (!isHeld && left > 0) wake = Math.min(wake ?? Infinity, left);
    }
    return {stay, wake};
  }
}

/** Those that stay, at the index they had; the others around them in their order. */
function insert(ids, stay) {
  const result = [...ids];
  const inOrder = [...stay].sort(([, one], [, other]) => one - other);
  for (const [id, index] of inOrder) result.splice(Math.min(index, result.length), 0, id);
  return result;
}
