// Comments that are not sent yet: they stay in this browser until they go to the agent as one message.

import {signal} from "./ui.js";
import {recall, remember} from "./memory.js";

const stores = new Map();

/** The drafts about one task of one repository, in the order of files and lines. */
export function draftsOf(repository, task) {
  const name = `drafts.${repository}.${task}`;
  if (!stores.has(name)) stores.set(name, new Drafts(name));
  return stores.get(name);
}

export function placeOf({path, side, line}) {
  return `${side}:${line}:${path}`;
}

export class Drafts {
  constructor(name) {
    this.name = name;
    this.list = signal(recall(name, []).filter((one) => one && one.path && one.line));
  }

  at(place) {
    return this.list.value.find((one) => placeOf(one) === place) ?? null;
  }

  put(draft) {
    const others = this.list.peek().filter((one) => placeOf(one) !== placeOf(draft));
    this.keep(draft.text.trim() ? [...others, draft] : others);
  }

  remove(draft) {
    this.keep(this.list.peek().filter((one) => placeOf(one) !== placeOf(draft)));
  }

  clear() {
    this.keep([]);
  }

  keep(drafts) {
    const sorted = [...drafts].sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1
      : one.line - other.line));
    this.list.value = sorted;
    remember(this.name, sorted.length ? sorted : null);
  }
}
