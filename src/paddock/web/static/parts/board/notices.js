// What needs a person and is no task: the sentence, and the command that helps.

import {html} from "../../lib/ui.js";
import {toast} from "../../lib/toasts.js";
import {Icon, State} from "../badge.js";
import {Words} from "../words.js";

export function Notices({notices}) {
  return notices.map((notice) => html`<div class="n notice" key=${`${notice.kind} ${notice.text}`}>
    <${State} of="blocked" words="look" />
    <div class="body"><div class="isolate"><${Words} text=${notice.text} /></div>
      <div class="why"><code>${notice.run}</code></div></div>
    <span></span>
    <div class="acts"><button type="button" class="b" aria-label=${`Copy ${notice.run}`}
      onClick=${() => copy(notice.run)}>
      <${Icon} name="copy" />Copy</button></div>
  </div>`);
}

async function copy(command) {
  try {
    await navigator.clipboard.writeText(command);
    toast({words: "copied", hint: command});
  } catch {
    toast({words: "this browser does not let the page copy", hint: command, tone: "refused"});
  }
}
