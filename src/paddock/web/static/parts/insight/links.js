// Where what a number counts is listed: the board or the log, filtered.

import {at} from "../../lib/place.js";

export function onBoard(fields) {
  const words = Object.entries(fields).map(([name, value]) => `${name}="${value.replace(/["\\]/g, "\\$&")}"`);
  return at(`/?${new URLSearchParams({filter: words.join(" ")})}`);
}

export function inLog(outcome) {
  return at(`/log?${new URLSearchParams({kind: "attempt.ended", text: outcome})}`);
}

/** What no agent did has none, or stands under the name of its engine. */
export function agentPath({agent, engine}) {
  return onBoard({agent: agent === engine ? "" : agent, engine});
}
