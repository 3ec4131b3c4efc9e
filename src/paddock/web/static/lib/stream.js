// One stream of server-sent events for the whole page: records, differences of the views on show, and a pulse.
// It is closed while the tab is hidden, and resumes after the last record the page has seen.

import {batch, effect, signal} from "./ui.js";
import {get} from "./api.js";
import {setServerTime} from "./format.js";
import {leaveWord, takeWord} from "./memory.js";
import {at} from "./place.js";
import {documentOf, lastRecord, takeRecords} from "./state.js";
import {toast} from "./toasts.js";

const STALE_MILLISECONDS = 10_000;
const FIRST_WAIT_MILLISECONDS = 400;
const LONGEST_WAIT_MILLISECONDS = 15_000;
const HISTORY = 80;
const REPLACED = "log-replaced";

/** "opening", "live", "stale" (no pulse for 10 s), "cut" (it reconnects), "refused" (no valid token) */
export const state = signal("opening");
/** The last pulse: `{now, seq, daemon, log, log_hint, identity}`; `log` is why the log cannot be read. */
export const pulse = signal({now: null, seq: 0, daemon: "", log: "", log_hint: "", identity: ""});

const watched = signal([]);
let source = null;
let hasOpened = false;
let failures = 0;
let heard = 0;
let retry = 0;
let waiting = [];
let frame = 0;

/** Every page of a repository shows the board's figures in its top bar; `view` is what else the page shows. */
export function watch(view, always = "board") {
  const wanted = [...new Set([always, view].filter(Boolean))];
  if (wanted.join() !== watched.peek().join()) watched.value = wanted;
}

/** Nothing that is asked for now gets there. */
export function isCutOff() {
  return state.value === "cut" || state.value === "refused";
}

export function isStale() {
  return state.value !== "live";
}

/** `hasLog` is false where the page is about several repositories. */
export async function startStream({hasLog = true} = {}) {
  sayWhyAgain();
  if (hasLog) await takeHistory();
  effect(() => {
    if (watched.value.length) open();
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("online", open);
  addEventListener("pagehide", close);
  setInterval(checkPulse, 1000);
}

/** The newest records first, so that the stream can continue exactly after them. */
async function takeHistory() {
  try {
    const {records} = await get("log", {limit: HISTORY, newest: 1, brief: 1});
    takeRecords(records);
  } catch (error) {
    state.value = error.status === 401 ? "refused" : "cut";
  }
}

function open() {
  close();
  if (document.hidden || !watched.peek().length) return;
  heard = performance.now();
  hasOpened = false;
  source = new EventSource(address());
  source.onopen = () => { hasOpened = true; };
  source.onmessage = (event) => enqueue("record", event.data);
  source.addEventListener("view", (event) => enqueue("view", event.data));
  source.addEventListener("pulse", (event) => enqueue("pulse", event.data));
  source.onerror = onError;
}

function close() {
  clearTimeout(retry);
  source?.close();
  source = null;
  flush();
}

export function address() {
  const query = new URLSearchParams();
  if (lastRecord()) query.append("after", lastRecord());
  query.append("brief", "1");
  for (const view of watched.peek()) query.append("view", view);
  for (const view of watched.peek()) {
    const {mark} = documentOf(view);
    if (mark) query.append("have", `${view}:${mark}`);
  }
  return at(`/api/v1/events?${query}`);
}

/** The browser's own reconnect has a fixed pace and an old address: it is never used. */
function onError() {
  close();
  failures += 1;
  if (failures === 2) findOutWhy();
  // One that never opened may have asked for what is not there, such as an unknown task: its page finds that out.
  if (state.peek() !== "refused" && (hasOpened || failures > 1)) state.value = "cut";
  const longest = Math.min(LONGEST_WAIT_MILLISECONDS, FIRST_WAIT_MILLISECONDS * 2 ** (failures - 1));
  retry = setTimeout(open, longest * (0.5 + Math.random() / 2));
}

/** An EventSource does not tell its status: a request does. */
async function findOutWhy() {
  try {
    await get("session");
  } catch (error) {
    if (error.status === 401 || error.status === 403) state.value = "refused";
  }
}

function enqueue(kind, data) {
  heard = performance.now();
  waiting.push([kind, data]);
  if (!frame) frame = requestAnimationFrame(flush);
}

/** All that came since the last frame becomes one change of the page. */
function flush() {
  cancelAnimationFrame(frame);
  frame = 0;
  if (!waiting.length) return;
  const taken = waiting;
  waiting = [];
  failures = 0;
  batch(() => {
    takeRecords(taken.filter(([kind]) => kind === "record").map(([, data]) => JSON.parse(data)));
    for (const [kind, data] of taken) {
      if (kind === "view") takeView(JSON.parse(data));
      else if (kind === "pulse") takePulse(JSON.parse(data));
    }
    if (source) state.value = "live";
  });
}

function takeView(message) {
  documentOf(message.of).take(message);
}

function takePulse(told) {
  if (!told.log && isOfAnotherLog(told)) startAgain();
  setServerTime(told.now);
  pulse.value = {...told, identity: told.identity || pulse.peek().identity};
}

/** Or of an older state of it; or the page began while there was none to begin with. */
function isOfAnotherLog({identity, seq}) {
  const known = pulse.peek();
  return (known.identity && identity !== known.identity) || seq < lastRecord() || (known.log && !lastRecord());
}

/** Nothing that the page knows is true. */
function startAgain() {
  if (lastRecord()) leaveWord(REPLACED);
  location.reload();
}

function sayWhyAgain() {
  if (!takeWord(REPLACED)) return;
  toast({words: "Another log is in the place of the one that this page showed", hint: "the page has begun again",
    tone: "refused"});
}

function checkPulse() {
  if (state.peek() === "live" && performance.now() - heard > STALE_MILLISECONDS) state.value = "stale";
  if (state.peek() === "stale" && performance.now() - heard > 2 * STALE_MILLISECONDS) onError();
}
