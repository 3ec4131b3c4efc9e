// Keys. The topmost layer that knows a key gets it; a dialog hides the layers below it.

import {signal, useLayoutEffect, useRef} from "./ui.js";

/** Layers from the bottom up, for the overlay of all keys: `{scope, modal, bindings}`. */
export const layers = signal([]);

const NAMES = {" ": "space", ArrowDown: "down", ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right"};

/**
 * Bindings while a component is shown: `{"j": ["move down", run], "ctrl+k": [...]}`. A bare function works
 * and is not listed. `modal` hides the layers below.
 */
export function useKeys(bindings, {scope = "Everywhere", modal = false} = {}) {
  const latest = useRef(bindings);
  latest.current = bindings;
  useLayoutEffect(() => {
    const layer = {scope, modal, get bindings() { return latest.current; }};
    layers.value = [...layers.value, layer];
    return () => { layers.value = layers.value.filter((one) => one !== layer); };
  }, [scope, modal]);
}

export function startKeys() {
  document.addEventListener("keydown", onKeyDown);
}

function keyName(event) {
  const key = NAMES[event.key] ?? (event.key.length === 1 ? event.key : event.key.toLowerCase());
  if (event.ctrlKey || event.metaKey) return `ctrl+${key.toLowerCase()}`;
  return event.altKey ? `alt+${key}` : key;
}

/** The keys that work now, by scope, each `{key, words}`. */
export function listedKeys(shown = layers.value) {
  const scopes = new Map();
  for (const [index, {scope, bindings}] of shown.entries()) {
    const isTaken = (key) => shown.slice(index + 1).some((above) => key in above.bindings);
    const listed = scopes.get(scope) ?? [];
    for (const [key, bound] of Object.entries(bindings)) {
      if (Array.isArray(bound) && !isTaken(key)) listed.push({key, words: bound[0]});
    }
    if (listed.length) scopes.set(scope, listed);
  }
  return scopes;
}

function onKeyDown(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const key = keyName(event);
  if (isForTheElement(event.target, key)) return;
  for (const layer of [...layers.value].reverse()) {
    const bound = layer.bindings[key];
    const run = Array.isArray(bound) ? bound[1] : bound;
    if (run) {
      if (run(event) !== false) event.preventDefault();
      return;
    }
    if (layer.modal) return;
  }
}

/** Typing stays typing, and a focused button keeps the keys that press it. */
function isForTheElement(element, key) {
  if (key.startsWith("ctrl+") || key === "escape") return false;
  if (element.isContentEditable) return true;
  switch (element.tagName) {
    case "TEXTAREA":
    case "SELECT":
      return true;
    case "INPUT":
      return !["checkbox", "radio", "button"].includes(element.type)
        || ["space", "left", "right", "up", "down"].includes(key);
    case "BUTTON":
    case "SUMMARY":
      return key === "enter" || key === "space";
    case "A":
      return key === "enter" && element.hasAttribute("href");
    default:
      return false;
  }
}
