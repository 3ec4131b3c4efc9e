// The log as one page shows it: what is loaded, in order and each record once, as searched for.

import {signal} from "./ui.js";
import {get} from "./api.js";
import {onRecords} from "./state.js";

const PIECE = 200;
const MOST = 5_000;
const SETTLE_MILLISECONDS = 300;

export class LoadedLog {
  constructor() {
    this.records = signal([]);
    this.isLoading = signal(false);
    this.hasOlder = signal(false);
    this.problem = signal(null);
    this.search = {text: "", kind: "", task: ""};
    this.turn = 0;
    this.timer = 0;
    this.newest = 0;
  }

  /** Follows the log until the function returned is called. */
  follow() {
    const stop = onRecords((found) => this.takeLive(found));
    return () => {
      stop();
      clearTimeout(this.timer);
      this.turn += 1;
    };
  }

  async find(search) {
    this.search = search;
    this.turn += 1;
    this.newest = 0;
    const turn = this.turn;
    await this.load({newest: 1}, (page) => {
      this.records.value = [];
      this.add(page.records);
      this.newest = Math.max(this.newest, page.seq ?? 0);
      this.hasOlder.value = Boolean(page.more);
    }, turn);
  }

  async loadOlder() {
    const [first] = this.records.peek();
    if (!first || this.isLoading.peek()) return;
    await this.load({before: first.seq}, (page) => {
      this.add(page.records);
      this.hasOlder.value = Boolean(page.more);
    }, this.turn);
  }

  async load(range, take, turn) {
    this.isLoading.value = true;
    try {
      const page = await get("log", {...this.search, ...range, limit: PIECE, brief: 1});
      if (turn !== this.turn) return;
      this.problem.value = null;
      take(page);
    } catch (error) {
      if (turn === this.turn) this.problem.value = error;
    } finally {
      if (turn === this.turn) this.isLoading.value = false;
    }
  }

  /** What the stream brings is shown at once; a text is looked for in bodies too, which only the server has. */
  takeLive(found) {
    const {text, kind, task} = this.search;
    if (!text) {
      const isWanted = (record) => (!kind || record.kind === kind) && (!task || record.task === task);
      this.add(found.filter((record) => record.seq > this.newest && isWanted(record)));
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load({after: this.newest}, (page) => {
      this.add(page.records);
      this.newest = Math.max(this.newest, page.more ? page.records.at(-1)?.seq ?? 0 : page.seq ?? 0);
    }, this.turn), SETTLE_MILLISECONDS);
  }

  add(found) {
    if (!found.length) return;
    this.records.value = merge(this.records.peek(), found).slice(-MOST);
  }
}

const HEARTBEATS = new Set(["lease.renewed", "attempt.extended"]);

/** `{record, count}` in order: what repeats without a word to say is one row, of the last of them. */
export function withoutRepeats(records) {
  const rows = [];
  for (const record of records) {
    const last = rows.at(-1);
    if (last && isRepeat(last.record, record)) rows[rows.length - 1] = {record, count: last.count + 1};
    else rows.push({record, count: 1});
  }
  return rows;
}

function isRepeat(before, record) {
  if (HEARTBEATS.has(before.kind) && HEARTBEATS.has(record.kind)) return true;
  return !before.words && !record.words && before.kind === record.kind && before.attempt === record.attempt;
}

/** Both in the log's order, each record once. */
export function merge(one, other) {
  if (!one.length || other[0].seq > one.at(-1).seq) return [...one, ...other];
  const bySeq = new Map([...one, ...other].map((record) => [record.seq, record]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
