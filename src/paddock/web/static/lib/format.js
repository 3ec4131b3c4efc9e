// Figures as people read them. Ages tick together, once a second, by the server's clock.

import {signal} from "./ui.js";

/** The server's time in milliseconds. Stands still while the page is stale. */
export const clock = signal(Date.now());

/** Pixels of a character of the drawings' type. */
const GLYPH = 6.7;

let ahead = 0;
let frozen = () => false;

export function setServerTime(iso) {
  const told = Date.parse(iso);
  if (Number.isNaN(told)) return;
  const measured = told - Date.now();
  // A pulse that was slow to arrive must not make every age jump back and forth.
  if (Math.abs(measured - ahead) > 1500) ahead = measured;
}

export function startClock(isFrozen) {
  frozen = isFrozen;
  setInterval(tick, 1000);
  tick();
}

function tick() {
  if (!frozen() && !document.hidden) clock.value = Date.now() + ahead;
}

/** Two units at most: `50s`, `6m`, `1h 05m`, `3d 4h`. */
export function duration(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return "";
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  const rest = hours % 24;
  return rest ? `${Math.floor(hours / 24)}d ${rest}h` : `${Math.floor(hours / 24)}d`;
}

/** As `duration`, with seconds below ten minutes: for what is about to happen. */
export function countdown(seconds) {
  if (seconds == null) return "";
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60 || whole >= 600) return duration(whole);
  const rest = whole % 60;
  return rest ? `${Math.floor(whole / 60)}m ${String(rest).padStart(2, "0")}s` : `${whole / 60}m`;
}

/** One unit: for estimates of hours, `3h`, `40m`. */
export function roughly(seconds) {
  if (seconds == null) return "";
  if (seconds < 5400) return duration(seconds);
  const hours = Math.round(seconds / 3600);
  return hours < 36 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

export function secondsSince(iso) {
  return iso ? (clock.value - Date.parse(iso)) / 1000 : null;
}

export function age(iso) {
  return iso ? duration(secondsSince(iso)) : "";
}

/** Unknown is empty, which is not the same as `$0.00`. */
export function money(usd) {
  if (usd == null) return "";
  if (usd > 0 && usd < 0.005) return "<$0.01";
  return `$${grouped(usd.toFixed(usd >= 1000 ? 0 : 2))}`;
}

/** A sum that is only expected: no cents where there are dollars. */
export function roughMoney(usd) {
  return usd >= 10 ? `$${grouped(Math.round(usd))}` : money(usd);
}

/** A sum that somebody set: `$80`, `$12.50`. */
export function budget(usd) {
  return usd != null && Number.isInteger(usd) ? `$${grouped(usd)}` : money(usd);
}

export function bytes(count) {
  if (count == null) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let left = count;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${unit && left < 10 ? left.toFixed(1) : Math.round(left)} ${units[unit]}`;
}

/** `14:09` in the reader's time zone. */
export function timeOfDay(iso) {
  const at = new Date(iso);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function timeWithSeconds(iso) {
  const at = new Date(iso);
  return `${timeOfDay(iso)}:${two(at.getSeconds())}`;
}

export function dayAndTime(iso) {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${timeWithSeconds(iso)}`;
}

/** Thin spaces between thousands, as in `48 213`. */
export function grouped(number) {
  const [whole, ...rest] = String(number).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"), ...rest].join(".");
}

export function plural(count, one, many = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `3 findings, 1 blocks`; empty where none is open. */
export function findingsWords({open_findings: count, blocking_findings: blocking}) {
  if (!count) return "";
  if (!blocking) return plural(count, "finding");
  if (blocking === count) return plural(count, "blocking finding");
  return `${plural(count, "finding")}, ${blocking} ${blocking === 1 ? "blocks" : "block"}`;
}

/** `t1, t2 and 4 more` */
export function someOf(names, most = 4) {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** For drawings: as much of a text as a box has room for; empty where even a little of it would not fit. */
export function fitText(text, width) {
  const most = Math.floor(width / GLYPH);
  if (text.length <= most) return text;
  return most >= 3 ? `${text.slice(0, most - 1)}…` : "";
}

const MARKS_SHOWN = 4;

/** Text that somebody else wrote: lines and tabs stay, control characters become `�`, piles of marks are cut. */
export function harmless(text) {
  return text.replace(/[^\P{C}\n\t]/gu, "�").replace(/\p{M}{5,}/gu, (marks) => marks.slice(0, MARKS_SHOWN));
}

function two(number) {
  return String(number).padStart(2, "0");
}
