// The log: every event in order, newest at the end, searched and followed.

import {html, useEffect, useLayoutEffect, useMemo, useRef, useSignal} from "../lib/ui.js";
import {dayAndTime, grouped, plural, timeWithSeconds} from "../lib/format.js";
import {LoadedLog, withoutRepeats} from "../lib/history.js";
import {useKeys} from "../lib/keys.js";
import {at} from "../lib/place.js";
import {go} from "../lib/route.js";
import {openRecord} from "../parts/record.js";
import {VirtualRows} from "../parts/virtual.js";

const TYPING_MILLISECONDS = 250;

function Page({query}) {
  const log = useMemo(() => new LoadedLog(), []);
  const search = {text: query.text ?? "", kind: query.kind ?? "", task: query.task ?? ""};
  const scroller = useRef(null);
  const field = useRef(null);
  const isFollowing = useSignal(true);
  const at = useSignal(null);
  useEffect(() => log.follow(), []);
  useEffect(() => {
    isFollowing.value = true;
    at.value = null;
    log.find(search);
  }, [search.text, search.kind, search.task]);
  const records = log.records.value;
  const rows = useMemo(() => (search.kind ? records.map((record) => ({record, count: 1}))
    : withoutRepeats(records)), [records, search.kind]);
  const bySeq = useMemo(() => new Map(rows.map((row) => [row.record.seq, row])), [rows]);
  const keys = useMemo(() => rows.map((row) => row.record.seq), [rows]);
  useEffect(() => {
    const {scrollHeight, clientHeight} = scroller.current;
    if (scrollHeight <= clientHeight + 1 && log.hasOlder.peek()) log.loadOlder();
  }, [rows]);
  useFollowing(scroller, records, isFollowing);
  useLogKeys({keys, at, isFollowing, field});
  const onScroll = () => {
    const {scrollTop, scrollHeight, clientHeight} = scroller.current;
    isFollowing.value = scrollHeight - scrollTop - clientHeight < 40;
    if (scrollTop < 200 && log.hasOlder.peek()) loadOlder(log, scroller.current);
  };
  const draw = (seq) => html`
    <${Entry} key=${seq} ...${bySeq.get(seq)} isHere=${at.value === seq} choose=${() => { at.value = seq; }} />`;
  return html`<main class="page">
    <div class="head"><div><h1>Log</h1><p class="lede">${ledeOf(records, search)}</p></div>
      <${Search} search=${search} field=${field} isFollowing=${isFollowing} />
      </div>
    <${Problem} what=${log.problem.value} />
    <section class="panel log" aria-label="Events">
      <div class="scroll" ref=${scroller} onScroll=${onScroll} tabindex="0" role="region"
        aria-label="Events, newest at the end">
        ${!records.length && html`<p class="in dim">
          ${log.isLoading.value ? "Reading the log…" : "No event is like that."}</p>`}
        <${VirtualRows} keys=${keys} draw=${draw} threshold=${120} pinned=${at.value} scroller=${scroller} />
      </div>
    </section>
    <p class="hint"><span>${plural(records.length, "event")} loaded</span><span><kbd>j</kbd><kbd>k</kbd>move</span>
      <span><kbd>enter</kbd>full body</span><span><kbd>F</kbd>follow</span><span><kbd>/</kbd>search</span></p>
  </main>`;
}

function ledeOf(records, search) {
  const last = records.at(-1);
  if (!last) return "";
  if (Object.values(search).some(Boolean)) return "Only events that are like that, newest at the end.";
  return `${plural(last.seq, "event")}, each as it happened and never changed, newest at the end.`;
}

function Search({search, field, isFollowing}) {
  const timer = useRef(0);
  const set = (name) => (event) => {
    const {value} = event.currentTarget;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => goTo({...search, [name]: value.trim()}), TYPING_MILLISECONDS);
  };
  const toggle = () => { isFollowing.value = !isFollowing.peek(); };
  return html`<div class="acts">
    <label class="filter"><span class="hide">Search</span>
      <input class="field" type="search" ref=${field} placeholder="Search" value=${search.text}
        onInput=${set("text")} /><kbd>/</kbd></label>
    <label><span class="hide">Kind</span>
      <input class="field kind" placeholder="kind, e.g. task.added" value=${search.kind}
        onInput=${set("kind")} /></label>
    <label><span class="hide">Task</span>
      <input class="field short" placeholder="task" value=${search.task} onInput=${set("task")} /></label>
    <button type="button" class="b" aria-pressed=${isFollowing.value ? "true" : "false"} onClick=${toggle}>Follow <kbd>F
      </kbd></button></div>`;
}

function Problem({what}) {
  return what && html`<p class="bad" role="alert">${what.message} <span class="dim">${what.hint}</span></p>`;
}

function goTo(search) {
  const given = Object.entries(search).filter(([, value]) => value);
  go(at(given.length ? `/log?${new URLSearchParams(given)}` : "/log"), {replace: true});
}

function Entry({record, count, isHere, choose}) {
  const open = () => {
    choose();
    openRecord(record.seq);
  };
  return html`<button type="button" class="lr" data-seq=${record.seq} aria-current=${isHere ? "true" : null}
    onClick=${open}>
    <span class="id">${record.seq}</span>
    <time datetime=${record.at} title=${dayAndTime(record.at)}>${timeWithSeconds(record.at)}</time>
    <span class="mono cut">${record.kind}</span><span class="id">${record.attempt ?? record.task ?? ""}</span>
    <span class="cut words">${record.words || html`<${Wordless} record=${record} count=${count} />`}</span></button>`;
}

function Wordless({record, count}) {
  return html`<span class="dim">${record.kind.replaceAll(/[._]/g, " ")}, by ${record.actor}
    ${count > 1 ? `, and ${grouped(count - 1)} like it before` : ""}</span>`;
}

/** New events keep the end in sight while following. */
function useFollowing(scroller, records, isFollowing) {
  const last = records.at(-1)?.seq;
  const follows = isFollowing.value;
  useLayoutEffect(() => {
    if (!follows) return undefined;
    const toEnd = () => { scroller.current.scrollTop = scroller.current.scrollHeight; };
    toEnd();
    const frame = requestAnimationFrame(toEnd);
    return () => cancelAnimationFrame(frame);
  }, [last, follows]);
}

/** What is read stays where it is when older events come above it. */
async function loadOlder(log, scroller) {
  const fromEnd = scroller.scrollHeight - scroller.scrollTop;
  await log.loadOlder();
  requestAnimationFrame(() => { scroller.scrollTop = scroller.scrollHeight - fromEnd; });
}

function useLogKeys({keys, at, isFollowing, field}) {
  const move = (step) => {
    const index = at.peek() === null ? keys.length : keys.indexOf(at.peek());
    const next = keys[Math.max(0, Math.min(keys.length - 1, index + step))];
    if (next === undefined) return;
    isFollowing.value = false;
    at.value = next;
    requestAnimationFrame(() => document.querySelector(`[data-seq="${next}"]`)?.focus());
  };
  useKeys({
    j: ["move down", () => move(1)],
    k: ["move up", () => move(-1)],
    enter: ["full body", () => at.peek() !== null && openRecord(at.peek())],
    F: ["follow", () => { isFollowing.value = !isFollowing.peek(); }],
    "/": ["search", () => field.current?.focus()],
  }, {scope: "Log"});
}

export default {title: () => "Log", view: () => null, Page};
