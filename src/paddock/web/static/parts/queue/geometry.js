// Where everything in the queue's picture goes: pure geometry, from times and rows to boxes.

export const LEFT = 68;
const RIGHT = 8;
export const MAIN_Y = 40;
export const ROWS_Y = 82;
const FOOT = 26;
const STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600];
const SHORT_WINDOWS = [60, 120, 300, 600, 1200];
const BAND = 64;
const MOST_ROWS = 32;
const PLANNED_ROWS = 8;

/** The windows on offer in seconds: where CI is quick, first one that shows about nine runs after each other. */
export function windowsFor(typicalSeconds) {
  const fixed = [2400, 10800, 86400];
  const wanted = (typicalSeconds ?? 300) * 9;
  const short = SHORT_WINDOWS.find((seconds) => seconds >= wanted);
  return wanted < 1200 && short ? [short, ...fixed] : fixed;
}

export function windowName(seconds) {
  return seconds < 3600 ? `${seconds / 60}m` : `${seconds / 3600}h`;
}

/** How much of the window is ahead of now: a long one is about the past. */
function shareAhead(seconds) {
  return seconds <= 2400 ? 0.3 : seconds <= 10800 ? 0.12 : 0.03;
}

/** Moves on by whole steps, so that between them only the line of now moves. */
export function anchor(now, seconds) {
  const step = (seconds * 1000) / 40;
  return Math.floor(now / step) * step;
}

export function scaleOf(now, seconds, width) {
  const ahead = seconds * 1000 * shareAhead(seconds);
  const end = anchor(now, seconds) + ahead;
  const start = end - seconds * 1000;
  const inner = width - LEFT - RIGHT;
  return {
    start,
    end,
    seconds,
    width,
    step: inner / 40,
    right: width - RIGHT,
    x: (at) => LEFT + ((at - start) / (end - start)) * inner,
    span: (milliseconds) => (milliseconds / (end - start)) * inner,
  };
}

/** Round times for the axis, each with its place. */
export function ticksOf(scale) {
  const seconds = (scale.end - scale.start) / 1000;
  const step = (STEPS.find((one) => seconds / one <= 9) ?? 21600) * 1000;
  const zone = new Date(scale.start).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let at = Math.ceil((scale.start - zone) / step) * step + zone; at < scale.end; at += step) {
    if (scale.x(at) > LEFT + 12) ticks.push({at, x: scale.x(at), withSeconds: step < 60_000});
  }
  return ticks;
}

/**
 * Rows of the picture. Beyond 16 slots they shrink; beyond 32 screens become a band of how many ran, and trains and
 * searches keep rows of their own. What is only planned gets one while there are few.
 */
export function rowsOf(slots, runs, planned = []) {
  if (slots <= MOST_ROWS) {
    const height = slots <= 16 ? 33 : 20;
    const y = (slot) => ROWS_Y + slot * height;
    return {count: slots, height, box: boxHeight(height), y, isShown: () => true, band: null,
      bottom: ROWS_Y + slots * height, name: (row) => `slot ${row + 1}`};
  }
  const lanesOf = (some) => some.filter((run) => run.kind !== "screen").map((run) => run.slot);
  const ran = new Set(lanesOf(runs));
  const ahead = lanesOf(planned).filter((slot) => !ran.has(slot)).slice(0, Math.max(0, PLANNED_ROWS - ran.size));
  const kept = [...new Set([...ran, ...ahead])].sort((one, other) => one - other);
  const place = new Map(kept.map((slot, row) => [slot, row]));
  const height = kept.length <= 16 ? 33 : 20;
  const bandY = ROWS_Y + kept.length * height;
  return {
    count: kept.length,
    height,
    box: boxHeight(height),
    y: (slot) => ROWS_Y + (place.get(slot) ?? 0) * height,
    isShown: (run) => run.kind !== "screen" && place.has(run.slot),
    band: {y: bandY, height: BAND},
    bottom: bandY + BAND,
    name: (row) => `slot ${kept[row] + 1}`,
  };
}

function boxHeight(row) {
  return row > 20 ? row - 9 : row - 4;
}

export function heightOf(rows) {
  return rows.bottom + FOOT;
}

/** A run's box; null where it is outside of the window. */
export function boxOf(scale, rows, {slot, from, to}) {
  const left = Math.max(scale.x(from), LEFT + 1);
  const right = Math.min(scale.x(to), scale.right);
  if (right < LEFT + 1 || left > scale.right) return null;
  const inset = (rows.height - rows.box) / 2;
  return {x: left, y: rows.y(slot) + inset, width: Math.max(1.5, right - left - 1.5), height: rows.box};
}

/** Small boxes for the members of a train, closer together where there are many; none where nobody could see them. */
export function carsOf(count, x, width) {
  const gap = (width - 2.5 * (count - 1)) / count >= 6 ? 2.5 : 1.5;
  const each = (width - gap * (count - 1)) / count;
  if (each < 3) return [];
  const size = Math.min(13, each);
  return Array.from({length: count}, (_, index) => ({x: x + index * (size + gap), width: size, gap}));
}

/** How many screens ran in each part of the window, and how many of those failed. */
export function densityOf(scale, runs, now, buckets = 120) {
  const step = (scale.end - scale.start) / buckets;
  const all = new Array(buckets).fill(0);
  const bad = new Array(buckets).fill(0);
  for (const run of runs) {
    if (run.kind !== "screen") continue;
    const first = Math.max(0, Math.floor((Date.parse(run.started) - scale.start) / step));
    const last = Math.min(buckets - 1, Math.floor(((run.ended ? Date.parse(run.ended) : now) - scale.start) / step));
    for (let bucket = first; bucket <= last; bucket += 1) {
      all[bucket] += 1;
      if (run.result === "fail" || run.result === "timeout") bad[bucket] += 1;
    }
  }
  return {all, bad, step};
}
