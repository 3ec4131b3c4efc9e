// A command for a terminal, to take along from the page.

import {html} from "../lib/ui.js";
import {toast} from "../lib/toasts.js";
import {Icon} from "./badge.js";

export function CopyButton({command}) {
  return html`<button type="button" class="b" aria-label=${`Copy ${command}`} onClick=${() => copy(command)}>
    <${Icon} name="copy" />Copy</button>`;
}

async function copy(command) {
  try {
    await navigator.clipboard.writeText(command);
    toast({words: "copied", hint: command});
  } catch {
    toast({words: "this browser does not let the page copy", hint: command, tone: "refused"});
  }
}
