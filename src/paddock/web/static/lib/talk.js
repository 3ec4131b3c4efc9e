// A transcript as it is loaded: turns, the newest last, each with its entries in order. No drawing.

import {signal} from "./ui.js";
import {get} from "./api.js";

const PAGE = 200;
const KEPT = 1_000;
const RETRY_MILLISECONDS = 2_000;

/**
 * The transcript of one attempt. `parts` are its turns as far as they are loaded; `follow` asks for what is new, one
 * request at a time, and `older` for a page before the first.
 */
export class Talk {
  constructor(task, attempt) {
    Object.assign(this, {task, attempt, busy: false, again: null});
    this.parts = signal([]);
    this.problem = signal("");
    this.loading = signal(false);
  }

  get first() {
    return this.parts.peek()[0] ?? null;
  }

  hasOlder() {
    const first = this.parts.value[0];
    return Boolean(first && (first.more_before || first.turn > 1));
  }

  /** Up to what the server last told of this attempt: turn and size of its output. */
  async follow({turn, live}) {
    if (this.busy) {
      this.again = {turn, live};
      return;
    }
    this.busy = true;
    try {
      await this.catchUp(turn);
      this.problem.value = "";
    } catch (error) {
      this.problem.value = error.message;
      if (live) setTimeout(() => this.follow({turn, live}), RETRY_MILLISECONDS);
    }
    this.busy = false;
    const next = this.again;
    this.again = null;
    if (next) await this.follow(next);
  }

  async catchUp(turn) {
    const last = this.parts.peek().at(-1);
    if (!last || turn > last.turn + 3) {
      this.parts.value = [await this.ask({turn})];
      return;
    }
    await this.readOn(last.turn);
    for (let next = last.turn + 1; next <= turn; next += 1) {
      const page = await this.ask({turn: next});
      this.parts.value = trim([...this.parts.peek(), page]);
    }
  }

  async readOn(turn) {
    for (;;) {
      const last = this.parts.peek().at(-1);
      if (!last || last.turn !== turn) return;
      if (!last.entries.length) {
        this.parts.value = [...this.parts.peek().slice(0, -1), await this.ask({turn})];
        return;
      }
      const page = await this.ask({turn, after: last.last, limit: 2 * PAGE});
      const merged = {...page, entries: [...last.entries, ...page.entries], first: last.first,
        more_before: last.more_before, opening: last.opening ?? page.opening};
      this.parts.value = trim([...this.parts.peek().slice(0, -1), merged]);
      if (!page.more_after) return;
    }
  }

  async older() {
    const first = this.first;
    if (this.loading.peek() || !first || !(first.more_before || first.turn > 1)) return;
    this.loading.value = true;
    try {
      if (first.more_before) {
        const page = await this.ask({turn: first.turn, before: first.first});
        const merged = {...first, entries: [...page.entries, ...first.entries], first: page.first,
          more_before: page.more_before, opening: page.opening};
        this.parts.value = [merged, ...this.parts.peek().slice(1)];
      } else {
        this.parts.value = [await this.ask({turn: first.turn - 1}), ...this.parts.peek()];
      }
    } catch (error) {
      this.problem.value = error.message;
    }
    this.loading.value = false;
  }

  /** Whoever is back at the end needs only the end. */
  forgetOlder() {
    const kept = trim(this.parts.peek(), PAGE);
    if (countOf(kept) < countOf(this.parts.peek())) this.parts.value = kept;
  }

  ask(query) {
    return get(`tasks/${this.task}/transcript`, {attempt: this.attempt, limit: PAGE, ...query});
  }
}

function countOf(parts) {
  return parts.reduce((sum, part) => sum + part.entries.length, 0);
}

/** The last entries of all turns, at most so many. */
export function trim(parts, most = KEPT) {
  const kept = [];
  let room = most;
  for (const part of [...parts].reverse()) {
    if (room <= 0) break;
    const entries = part.entries.slice(-room);
    const isCut = entries.length < part.entries.length;
    kept.unshift(isCut ? {...part, entries, first: entries[0].n, more_before: true, opening: null} : part);
    room -= Math.max(1, entries.length);
  }
  return kept;
}

/** Entries for people: a call with its edits and its result is one. `live` calls have no result yet. */
export function joined(parts) {
  const results = new Map();
  const edits = new Map();
  for (const {turn, entries} of parts) {
    for (const entry of entries) {
      const key = `${turn}:${entry.call_id}`;
      if (entry.type === "result") results.set(key, entry);
      if (entry.type === "edit") edits.set(key, [...(edits.get(key) ?? []), entry]);
    }
  }
  return parts.map((part) => {
    const calls = new Set(part.entries.filter((entry) => entry.type === "call").map((entry) => entry.call_id));
    const shown = part.entries.flatMap((entry) => {
      if (entry.type === "call") {
        const key = `${part.turn}:${entry.call_id}`;
        return [{...entry, result: results.get(key) ?? null, edits: edits.get(key) ?? []}];
      }
      return (entry.type === "result" || entry.type === "edit") && calls.has(entry.call_id) ? [] : [entry];
    });
    return {...part, shown};
  });
}
