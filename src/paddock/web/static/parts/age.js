// Ages as text nodes of their own: a tick of the clock changes the text and redraws nothing else.

import {computed, html, useMemo} from "../lib/ui.js";
import {age, countdown, roughly, secondsSince} from "../lib/format.js";

export function Age({at}) {
  const text = useMemo(() => computed(() => age(at)), [at]);
  return html`${text}`;
}

/** An estimate: "about 1m 40s" until then, after `lead`, and "any moment" from then on. */
export function Until({at, isRough = false, lead = ""}) {
  const text = useMemo(() => computed(() => untilWords(-secondsSince(at), isRough, lead)), [at, isRough, lead]);
  return html`${text}`;
}

function untilWords(seconds, isRough, lead) {
  if (seconds < 1) return "any moment";
  return `${lead}about ${isRough ? roughly(seconds) : countdown(seconds)}`;
}

/** What is left until then, without a word more. */
export function TimeLeft({at}) {
  const text = useMemo(() => computed(() => countdown(Math.max(0, -secondsSince(at)))), [at]);
  return html`${text}`;
}
