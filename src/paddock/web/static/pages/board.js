// The board: who needs you first, then every task by phase.

import {computed, html, signal, useComputed, useEffect, useRef, useSignal} from "../lib/ui.js";
import {cursor, isSteered, notePointer, pointerLeft, selectAll, selected} from "../lib/cursor.js";
import {filterOf} from "../lib/filter.js";
import {clock, plural} from "../lib/format.js";
import {recall, remember} from "../lib/memory.js";
import {at} from "../lib/place.js";
import {convoyPath, go, route} from "../lib/route.js";
import {GROUPS} from "../lib/sections.js";
import {documentOf} from "../lib/state.js";
import {arrange, sectionOf, useArrangement} from "../parts/board/arranged.js";
import {Icon} from "../parts/badge.js";
import {useBoardKeys} from "../parts/board/keys.js";
import {BulkBar} from "../parts/board/bulk.js";
import {Convoys} from "../parts/board/convoys.js";
import {EmptyBoard} from "../parts/board/empty.js";
import {Feed} from "../parts/board/feed.js";
import {FilterField} from "../parts/board/filter-field.js";
import {Flow} from "../parts/board/flow.js";
import {Group} from "../parts/board/group.js";
import {Needs} from "../parts/board/needs.js";
import {openNewTask} from "../parts/new-task.js";
import {Peek} from "../parts/board/peek.js";
import {useStages} from "../parts/staged.js";
import {Strip} from "../parts/board/strip.js";
import {Words} from "../parts/words.js";

const HINTS = [
  ["j k", "move"], ["space", "peek and reply"], ["enter", "open"], ["a", "approve"], ["r", "reject or retry"],
  ["m", "message"], ["s", "stop"], ["x", "select"], ["/", "filter"], ["?", "all keys"],
];
const layout = signal(recall("layout", "rows"));
const filter = signal("");
const reading = computed(() => filterOf(filter.value));
const AGES_LAST = 30_000;

function Page({params, query}) {
  const tasks = documentOf("board").field("tasks").value;
  const field = useRef(null);
  const isPeeking = useSignal(false);
  const phase = query.phase ?? "";
  useEffect(() => { filter.value = query.filter ?? ""; }, [query.filter]);
  useEffect(() => { if (route.peek().path === "/new") openNewTask(); }, []);
  const test = useLastTest();
  const turn = useComputed(() => (reading.value.ages ? Math.floor(clock.value / AGES_LAST) : 0)).value;
  useEffect(() => {
    const inConvoy = params.convoy ? (row) => row.convoy === params.convoy : null;
    const inPhase = phase ? (row) => row.phase === phase : null;
    arrange([inConvoy, inPhase, test && ((row) => test(row, clock.peek()))]);
  }, [params.convoy, phase, test, turn]);
  useArrangement();
  useEffect(() => () => selectAll([]), []);
  useBoardKeys({field, isPeeking});
  if (!tasks) return html`<main class="page"><${Head} field=${field} /><p class="dim">Asking for the board…</p></main>`;
  if (!tasks.size) return html`<main class="page"><${Head} field=${field} /><${EmptyBoard} /></main>`;
  const base = params.convoy ? convoyPath(params.convoy) : at("/");
  return html`<main class=${`page as-${layout.value}`}>
    <${Head} field=${field} convoy=${params.convoy} />
    <${Strip} />
    <${Flow} chosen=${phase} base=${base} convoy=${params.convoy} />
    <div class="board" onPointerMove=${notePointer} onPointerLeave=${pointerLeft}>
      <div class="stack0">
        <${Needs} tasks=${tasks} section=${sectionOf("needs")} isFiltered=${Boolean(phase || filter.value)} />
        <${Groups} tasks=${tasks} isAlone=${Boolean(phase)} />
      </div>
      <${Beside} tasks=${tasks} convoy=${params.convoy} />
    </div>
    <${Hints} />
    <${BulkBar} />
    ${isPeeking.value && html`<${PeekAtCursor} tasks=${tasks} close=${() => { isPeeking.value = false; }} />`}
  </main>`;
}

/** While what is typed makes no sense, what was found last stays. */
function useLastTest() {
  const last = useRef(null);
  const {test, mistake} = reading.value;
  if (!mistake) last.current = test;
  return last.current;
}

function Head({field, convoy}) {
  const set = (chosen) => {
    layout.value = chosen;
    remember("layout", chosen);
  };
  const isSelecting = selected.value.size > 0;
  const select = () => selectAll(isSelecting || !cursor.value ? [] : [cursor.value.id]);
  const whole = html`<a class="dim" href=${at("/")}>Board</a>`;
  return html`<div class="head"><div><h1>${convoy ? html`${whole} / ${convoy}` : "Board"}</h1>
      <p class="lede"><${Words} text=${ledeOf(convoy)} /></p></div>
    <div class="acts"><span class="seg" role="radiogroup" aria-label="Layout">
        <${Layout} name="rows" words="Rows" set=${set} /><${Layout} name="cards" words="Cards" set=${set} /></span>
      <${FilterField} field=${field} text=${filter.value} mistake=${reading.value.mistake} set=${narrow} />
      <button type="button" class="b wide" aria-pressed=${isSelecting ? "true" : "false"} onClick=${select}>Select <kbd>
        x</kbd></button>
      <button type="button" class="b" onClick=${() => openNewTask()}><${Icon} name="plus" />New task <kbd>n</kbd>
        </button></div></div>`;
}

function ledeOf(convoy) {
  const board = documentOf("board");
  if (!convoy) return board.field("words").value;
  const row = board.field("convoys").value?.get(convoy)?.value;
  if (!row) return "There is no such convoy.";
  const needs = row.needs ? `; ${plural(row.needs, "task")} ${row.needs === 1 ? "needs" : "need"} you` : "";
  return `${row.title && `${row.title.replace(/\.$/, "")}. `}${row.done} of ${row.total} done${needs}.`;
}

function Layout({name, words, set}) {
  return html`<label><input type="radio" name="layout" checked=${layout.value === name} onChange=${() => set(name)} />
    ${words}</label>`;
}

function hasRows(phase) {
  const {ids, count} = sectionOf(phase).value;
  return ids.length > 0 || count > 0;
}

function Groups({tasks, isAlone}) {
  const shown = useComputed(() => GROUPS.filter(hasRows).join()).value;
  const hasNeeds = useComputed(() => sectionOf("needs").value.ids.length > 0).value;
  const phases = shown ? shown.split(",") : [];
  const drawn = useStages(phases.length);
  if (!phases.length && !hasNeeds) {
    return html`<section class="panel blank groups-none"><h2>No task is like that</h2>
      <button type="button" class="b" onClick=${clear}>Show all tasks</button></section>`;
  }
  return html`<div class="groups">${phases.slice(0, drawn).map((phase, index) => html`
    <${Group} key=${phase} phase=${phase} tasks=${tasks} section=${sectionOf(phase)} isFirst=${index === 0}
      isAlone=${isAlone} />`)}</div>`;
}

function Beside({tasks, convoy}) {
  const drawn = useStages(2);
  return html`<aside class="stack">${drawn > 1 && html`<${Convoys} tasks=${tasks} only=${convoy} /><${Feed} />`}
    </aside>`;
}

/** The keyboard is on the first row of what is left. */
function narrow(text) {
  isSteered.value = false;
  filter.value = text;
}

function clear() {
  filter.value = "";
  go(at("/"));
}

function PeekAtCursor({tasks, close}) {
  const row = cursor.value && tasks.get(cursor.value.id);
  return row ? html`<${Peek} row=${row} close=${close} />` : null;
}

function Hints() {
  return html`<p class="hint">${HINTS.map(([keys, words]) => html`<span>${
    keys.split(" ").map((key) => html`<kbd>${key}</kbd>`)}${words}</span>`)}</p>`;
}

export default {title: ({convoy}) => convoy ?? "Board", view: () => "board", Page};
