// What a task answers that only reads, as its words: a report, or a review that found nothing.

import {html} from "../../lib/ui.js";

const NAMES = {report: "Report", review: "Findings"};

export function Answer({page}) {
  const name = NAMES[page.task.role] ?? "Answer";
  return html`<section class="panel" aria-label=${name}><header><h2>${name}</h2></header>
    ${page.answer ? html`<pre class="raw answer isolate">${page.answer}</pre>`
      : html`<p class="fyi dim">It has not answered yet. Nothing it changes is kept.</p>`}</section>`;
}
