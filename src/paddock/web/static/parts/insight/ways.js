// The ways that work takes, from a task to main: how many attempts go where, and where they are lost.

import {html, useState} from "../../lib/ui.js";
import {plural} from "../../lib/format.js";
import {Chosen, FlowPicture} from "./flow-picture.js";
import {Panel, useTold} from "./told.js";

export function Ways({since}) {
  const told = useTold("insight/ways", {since});
  const [chosen, setChosen] = useState(null);
  return html`<${Panel} title="Ways the work takes" told=${told} end="width is how many"
    draw=${({picture}) => (picture.attempts
      ? html`<div class="in pic"><${FlowPicture} picture=${picture} chosen=${chosen} choose=${setChosen}
          label=${`Ways of ${plural(picture.tasks, "task")} in ${plural(picture.attempts, "attempt")}`} /></div>
        <${Chosen} picture=${picture} chosen=${chosen} what="attempts" />`
      : html`<div class="in"><p class="dim">No attempt was begun in this time.</p></div>`)} />`;
}
