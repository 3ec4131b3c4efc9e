// What happened lately, newest first, in the words of the log.

import {html} from "../../lib/ui.js";
import {timeOfDay} from "../../lib/format.js";
import {at} from "../../lib/place.js";
import {taskPath} from "../../lib/route.js";
import {records} from "../../lib/state.js";
import {Words} from "../words.js";

const SHOWN = 12;

export function Feed() {
  const told = records.value.filter((record) => record.words).slice(-SHOWN).reverse();
  return html`<section class="panel"><header><h2>Recent</h2><span class="end"><a href=${at("/log")}>whole log</a></span>
    </header>
    ${told.length ? html`<ul class="feed">${told.map((record) => html`<${Entry} key=${record.seq} record=${record} />`)}
      </ul>`
      : html`<p class="in dim">Nothing has happened yet.</p>`}
  </section>`;
}

function Entry({record: {at, task, words}}) {
  const subject = task && html`<a href=${taskPath(task)}><b>${task}</b></a> `;
  return html`<li><time datetime=${at}>${timeOfDay(at)}</time><span class="isolate">${subject}
    <${Words} text=${words} /></span></li>`;
}
