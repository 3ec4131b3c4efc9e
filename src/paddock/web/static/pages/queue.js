// The merge queue: a picture that explains itself, what lands next, where every change stands, and what was decided.

import {Fragment, html, useEffect} from "../lib/ui.js";
import {useKeys} from "../lib/keys.js";
import {at} from "../lib/place.js";
import {go, route} from "../lib/route.js";
import {documentOf} from "../lib/state.js";
import {Halves, searchNote} from "../parts/queue/halves.js";
import {LandsNext} from "../parts/queue/lands-next.js";
import {PicturePanel} from "../parts/queue/picture-panel.js";
import {QueuedChanges, Standing} from "../parts/queue/queued.js";
import {openRunLog} from "../parts/queue/run-log.js";
import {Switches, flip} from "../parts/queue/switches.js";
import {Learnt, Verdicts} from "../parts/queue/verdicts.js";
import {useStages} from "../parts/staged.js";
import {Words} from "../parts/words.js";

function Page({query}) {
  const live = documentOf("queue");
  const queue = live.value;
  useEffect(() => {
    // A link from elsewhere: its address is this page's again once the log is closed.
    if (query.run) openRunLog(query.run).then(() => { if (route.peek().query.run) go(at("/queue"), {replace: true}); });
  }, [query.run]);
  useKeys({
    p: ["pause or resume starting", () => flip("pause")],
    f: ["freeze or unfreeze landing", () => flip("freeze")],
    d: ["drain or resume", () => flip("drain")],
  }, {scope: "Merge queue"});
  if (!queue) {
    return html`<main class="page"><div class="head"><div><h1>Merge queue</h1>
      <p class="lede">Asking for the queue…</p></div></div></main>`;
  }
  return html`<main class="page">
    <div class="head"><div><h1>Merge queue</h1><p class="lede"><${Words} text=${queue.words} /></p></div>
      <${Switches} queue=${queue} /></div>
    <${PicturePanel} queue=${queue} live=${live} />
    <${Below} queue=${queue} />
    <p class="hint"><span><kbd>p</kbd>pause</span><span><kbd>f</kbd>freeze</span><span><kbd>d</kbd>drain</span>
      <span><kbd>←</kbd><kbd>→</kbd>walk runs</span><span><kbd>enter</kbd>CI log</span>
      <span><kbd>?</kbd>all keys</span></p>
  </main>`;
}

function Below({queue}) {
  const drawn = useStages(3);
  return html`<${Fragment}>
    ${drawn > 1 && html`<div class="q3"><${LandsNext} queue=${queue} /><${Search} search=${queue.search} />
      <${Standing} queue=${queue} /></div>`}
    ${drawn > 1 && html`<${QueuedChanges} queue=${queue} />`}
    ${drawn > 2 && html`<div class="f2 gap-top"><${Verdicts} queue=${queue} /><${Learnt} queue=${queue} /></div>`}
  </${Fragment}>`;
}

function Search({search}) {
  if (!search) {
    return html`<section class="panel"><header><h2>No culprit to find</h2></header><div class="in"><p class="dim">
      When a train or a pool fails, half of it is tested again, then half of that, until the change at fault is alone.
      ${" "}Nobody else waits for it. The halves are drawn here.</p></div></section>`;
  }
  return html`<section class="panel">
    <header><h2>${search.title}</h2><span class="end">${searchNote(search)}</span></header>
    <div class="in"><${Halves} search=${search} open=${openRunLog} /></div>
  </section>`;
}

export default {title: () => "Merge queue", view: () => "queue", Page};
