// Requests to the server. What it refuses is raised with its own words and hint.

import {at} from "./place.js";

const ROOT = at("/api/v1/");
const PATIENCE_SECONDS = 30;
/** The server answers what takes long after 100 s, if only to say that it goes on by itself. */
const LONG_PATIENCE_SECONDS = 110;

class Refusal extends Error {
  /** `code` is for programs; `detail` is the whole answer. */
  constructor(status, {code = "", message = "", hint = ""}, detail = null) {
    super(message);
    Object.assign(this, {status, code, hint, detail});
  }
}

export function get(path, query = {}) {
  return ask(`${ROOT}${path}${queryOf(query)}`, {});
}

/** From the server itself, which may show several repositories. */
export function getShared(path) {
  return ask(`/api/v1/${path}`, {});
}

/** For what is computed from all that the fleet has done. */
export function getLong(path, query = {}) {
  return ask(`${ROOT}${path}${queryOf(query)}`, {}, LONG_PATIENCE_SECONDS);
}

export function post(path, body = {}) {
  return ask(ROOT + path, sending(body));
}

/** For what works with git or ends processes. */
export function postLong(path, body = {}) {
  return ask(ROOT + path, sending(body), LONG_PATIENCE_SECONDS);
}

function sending(body) {
  return {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
}

function queryOf(query) {
  const given = Object.entries(query).filter(([, value]) => value != null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function ask(url, options, seconds = PATIENCE_SECONDS) {
  let answer;
  try {
    answer = await fetch(url,
      {...options, credentials: "same-origin", signal: AbortSignal.timeout(1000 * seconds)});
  } catch (error) {
    const slow = error.name === "TimeoutError";
    const message = slow ? `the server has not answered for ${seconds}s` : "the server cannot be reached";
    throw new Refusal(0, {code: slow ? "slow" : "cut", message, hint: "start it again with `paddock web`"});
  }
  const body = await jsonOf(answer);
  if (answer.ok) return body;
  throw new Refusal(answer.status, body?.error ?? {code: "unknown", message: `the server answered ${answer.status}`},
    body);
}

async function jsonOf(answer) {
  try {
    return await answer.json();
  } catch {
    return null;
  }
}
