// The phases of a task, as docs/concepts.md has them.

/** In the order of a task's life; those beside it last. */
export const PHASES = [
  "waiting", "ready", "running", "reviewing", "approval", "queued", "landed", "done", "blocked", "failed", "noop",
  "cancelled",
];

/** Nothing more happens to these by itself. */
export const FINISHED = new Set(["landed", "done", "noop", "cancelled"]);
