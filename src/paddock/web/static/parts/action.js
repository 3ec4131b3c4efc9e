// A button for something that can be done to a task now.

import {html} from "../lib/ui.js";
import {ACTIONS, keyOf, perform, pendingOf} from "../lib/actions.js";
import {session} from "../lib/session.js";
import {isCutOff} from "../lib/stream.js";

const OTHER_WORDS = {answer: {message: "Answer"}};

/** `isMain` fills it and shows its key: one on a screen, on the row the keyboard is on. */
export function ActionButton({action, id, need = "", isMain = false, showKey = false}) {
  const {words} = ACTIONS[action];
  const key = keyOf(action, [id]);
  const isReadOnly = Boolean(session.value?.read_only);
  const isSent = pendingOf(id).value !== "";
  const why = isReadOnly ? "this page may only read" : isCutOff() ? "the server does not answer" : null;
  const off = why || isSent ? "true" : null;
  const run = () => { if (!off) perform(action, [id]); };
  return html`<button type="button" class=${`b${isMain && !off ? " main" : ""}`} aria-disabled=${off} onClick=${run}
    title=${why}
      aria-label=${`${OTHER_WORDS[need]?.[action] ?? words} ${id}`}>
    ${OTHER_WORDS[need]?.[action] ?? words} ${showKey && key && html`<kbd>${key}</kbd>`}</button>`;
}
