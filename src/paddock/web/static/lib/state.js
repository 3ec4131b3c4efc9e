// What the server told: live documents, changed by differences, and the latest records, each once.

import {batch, computed, signal} from "./ui.js";

const RECENT = 200;
const documents = new Map();
const listeners = new Set();

/** The latest records in order, oldest first. */
export const records = signal([]);

let lastSeq = 0;

export function documentOf(view) {
  if (!documents.has(view)) documents.set(view, new LiveDocument(view));
  return documents.get(view);
}

/**
 * A live view as the server last told it. Its value is null until it came; then each field is there, and a
 * table is a Map of signals, so that a row that changed redraws that row alone. The value itself changes with
 * a small field or with which rows there are.
 */
export class LiveDocument {
  constructor(view) {
    this.view = view;
    this.mark = null;
    this.current = signal(null);
    this.tables = new Set();
    this.fields = new Map();
    this.turns = new Map();
  }

  get value() {
    return this.current.value;
  }

  peek() {
    return this.current.peek();
  }

  field(name) {
    if (!this.fields.has(name)) this.fields.set(name, computed(() => this.current.value?.[name]));
    return this.fields.get(name);
  }

  /** Counts the changes of a table's rows: to arrange all rows again, at most once for each batch. */
  changesOf(table) {
    if (!this.turns.has(table)) this.turns.set(table, signal(0));
    return this.turns.get(table);
  }

  take({mark, whole, tables, set, rows}) {
    batch(() => {
      if (whole) this.takeWhole(whole, tables);
      else this.takeDifference(set ?? {}, rows ?? {});
    });
    this.mark = mark;
  }

  takeWhole(whole, tables = []) {
    this.tables = new Set(tables);
    const old = this.current.peek();
    const next = {...whole};
    for (const name of this.tables) {
      next[name] = this.mergeTable(name, old?.[name], whole[name], old ? rowsGone(old[name], whole[name]) : []);
    }
    this.current.value = next;
  }

  takeDifference(set, rows) {
    const old = this.current.peek();
    if (!old) return;
    const next = {...old, ...set};
    let replaced = Object.keys(set).length > 0;
    for (const [name, changed] of Object.entries(rows)) {
      const gone = Object.keys(changed).filter((key) => changed[key] === null);
      next[name] = this.mergeTable(name, old[name], changed, gone);
      replaced ||= next[name] !== old[name];
    }
    if (replaced) this.current.value = next;
  }

  /** The same Map where only rows changed; another one where rows came or went. */
  mergeTable(name, old, changed, gone) {
    const isNew = (key) => changed[key] !== null && !old?.has(key);
    const keys = Object.keys(changed);
    const table = !old || gone.length || keys.some(isNew) ? new Map(old) : old;
    for (const key of gone) table.delete(key);
    for (const key of keys) {
      if (changed[key] === null) continue;
      const row = table.get(key);
      if (!row) table.set(key, signal(changed[key]));
      else if (!same(row.peek(), changed[key])) row.value = changed[key];
    }
    this.changesOf(name).value += 1;
    return table;
  }
}

function rowsGone(table, whole) {
  return [...(table?.keys() ?? [])].filter((key) => !Object.hasOwn(whole, key));
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function lastRecord() {
  return lastSeq;
}

/** Records may come twice over a reconnect: each is taken once, and the order is that of the log. */
export function takeRecords(found) {
  const fresh = found.filter((record) => record.seq > lastSeq).sort((one, other) => one.seq - other.seq);
  const once = fresh.filter((record, index) => index === 0 || record.seq !== fresh[index - 1].seq);
  if (!once.length) return;
  lastSeq = once.at(-1).seq;
  records.value = [...records.peek(), ...once].slice(-RECENT);
  for (const listener of listeners) listener(once);
}

/** Calls `listener` with each batch of new records until the function returned is called. */
export function onRecords(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
