// The fields that a filter can look at, as `core/filter/fields.py` has them: a test compares the two.

import {PHASES} from "./phases.js";

const OUTCOMES = [
  "delivered", "unsaved", "kept", "unchanged", "empty", "noop", "refused", "misconfigured", "crashed", "timeout",
  "stalled", "looping", "never_ran", "setup_failed", "no_space", "throttled", "overloaded", "auth", "over_budget",
  "killed", "lost", "answered", "strayed", "asked", "left",
];
const NEEDS = ["approve", "answer", "blocked", "failed"];
const ROLES = ["work", "review", "plan", "report"];

/** `kind` is what it holds; `choices` all that it can be; `lacks`: a task can be without. */
const field = (kind, {choices = [], lacks = true, example = ""} = {}) => ({kind, choices, lacks, example});

export const FIELDS = new Map(Object.entries({
  id: field("ids", {lacks: false}),
  title: field("text", {lacks: false}),
  phase: field("choice", {choices: PHASES, lacks: false}),
  outcome: field("choice", {choices: OUTCOMES}),
  need: field("choice", {choices: NEEDS}),
  agent: field("name"),
  engine: field("name"),
  model: field("name"),
  kind: field("name"),
  convoy: field("name"),
  label: field("name"),
  role: field("choice", {choices: ROLES, lacks: false}),
  after: field("ids"),
  held: field("name"),
  age: field("duration", {lacks: false, example: "age>2h"}),
  since: field("duration", {lacks: false, example: "since>30m"}),
  cost: field("money", {example: "cost>1.50"}),
  attempts: field("number", {lacks: false, example: "attempts>=2"}),
  priority: field("number", {lacks: false, example: "priority>0"}),
  reason: field("text"),
  stuck: field("text"),
}).map(([name, one]) => [name, {...one, name}]));

/** Where a word without a field is looked for. */
export const SEARCHED = [
  "id", "title", "agent", "engine", "convoy", "label", "kind", "reason", "step", "stuck", "phase", "need",
];

export const isAmount = (one) => ["duration", "money", "number"].includes(one.kind);
export const hasOrder = (one) => isAmount(one) || one.kind === "ids";

/** What a row has of a field in words, none of them empty. */
export function wordsOf(row, name) {
  const value = row[name === "label" ? "labels" : name];
  return (Array.isArray(value) ? value : [value]).filter(Boolean).map((word) => String(word).toLowerCase());
}

/** What a row has of a field as a number; null if nothing. `now` is in milliseconds. */
export function numberOf(row, name, now) {
  if (name === "age") return (now - Date.parse(row.created)) / 1000;
  if (name === "since") return (now - Date.parse(row.since)) / 1000;
  return (name === "cost" ? row.cost_usd : row[name]) ?? null;
}
