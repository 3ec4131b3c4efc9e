// Which page is shown. Plain links work: clicks on those of this site change the route without a reload.

import {signal} from "./ui.js";
import {at, within} from "./place.js";

const ROUTES = [
  [/^\/$/, "board"],
  [/^\/new$/, "board"],
  [/^\/convoys\/(?<convoy>[^/]+)$/, "board"],
  [/^\/queue$/, "queue"],
  [/^\/fleet$/, "fleet"],
  [/^\/insight$/, "insight"],
  [/^\/log$/, "log"],
  [/^\/tasks\/(?<task>[^/]+)$/, "task"],
  [/^\/runs\/(?<run>.+)$/, "run"],
];

/** `{name, path, params, query}`; name is "" for an unknown address. */
export const route = signal(routeOf(location));

function routeOf({pathname, search}) {
  const query = Object.fromEntries(new URLSearchParams(search));
  const path = within(pathname);
  for (const [pattern, name] of path === null ? [] : ROUTES) {
    const found = pattern.exec(path);
    if (found) return {name, path, params: decoded(found.groups ?? {}), query};
  }
  return {name: "", path: pathname, params: {}, query};
}

/** `address` as links have it: see `at`. */

export function go(address, {replace = false} = {}) {
  const from = route.value;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  route.value = routeOf(location);
  if (!replace && route.value.path !== from.path) scrollTo(0, 0);
}

export function taskPath(id) {
  return at(`/tasks/${encodeURIComponent(id)}`);
}

/** `name` is an attempt such as t3.1, or LABEL/NAME of an imported run. */
export function runPath(name) {
  return at(`/runs/${encodeURIComponent(name)}`);
}

export function convoyPath(name) {
  return at(`/convoys/${encodeURIComponent(name)}`);
}

export function startRouter() {
  addEventListener("popstate", () => { route.value = routeOf(location); });
  document.addEventListener("click", followLink);
}

function followLink(event) {
  const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.defaultPrevented || event.button !== 0 || modified) return;
  const link = event.target.closest?.("a[href]");
  if (!link || link.getAttribute("target") || link.hasAttribute("download")
    || link.getAttribute("href").startsWith("#")) return;
  const address = new URL(link.getAttribute("href"), location);
  if (address.origin !== location.origin || !routeOf(address).name) return;
  event.preventDefault();
  go(address.pathname + address.search + address.hash);
}

function decoded(params) {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodePart(value)]));
}

function decodePart(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
