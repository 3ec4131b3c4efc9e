// What needs a person and is no task: the sentence, and the command that helps.

import {html} from "../../lib/ui.js";
import {State} from "../badge.js";
import {CopyButton} from "../copy.js";
import {Words} from "../words.js";

export function Notices({notices}) {
  return notices.map((notice) => html`<div class="n notice" key=${`${notice.kind} ${notice.text}`}>
    <${State} of="blocked" words="look" />
    <div class="body"><div class="isolate"><${Words} text=${notice.text} /></div>
      <div class="why"><code>${notice.run}</code></div></div>
    <span></span>
    <div class="acts"><${CopyButton} command=${notice.run} /></div>
  </div>`);
}
