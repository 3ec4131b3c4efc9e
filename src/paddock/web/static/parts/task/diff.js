// The change of a task: which version of it, its files, and comments on its lines.

import {Fragment, html, useEffect, useMemo, useRef, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {plural} from "../../lib/format.js";
import {useKeys} from "../../lib/keys.js";
import {recall, remember} from "../../lib/memory.js";
import {placeOf} from "../../lib/comment-drafts.js";
import {Change, Icon} from "../badge.js";
import {CommentNote, DraftBar, sendDrafts} from "./comments.js";
import {FileLines, pointOf} from "./diff-rows.js";
import {findingNotes, isOn, notesApart, useGoal} from "./finding-lines.js";
import {Words} from "../words.js";

const OPEN_LINES = 2_000;
const SHOWN_VERSIONS = 4;
const CALM_MILLISECONDS = 1_500;

/**
 * `seen` is a ref: the head of the version that is on show, for decisions about it. `findings` are shown at their
 * lines; `goal` is one whose line somebody asked to see.
 */
export function Changes({id, page, drafts, seen, target, findings, goal}) {
  const [split, setSplit] = useState(recall("diff.split", false));
  const [which, setWhich] = useState({name: "now"});
  const [shown, reload] = useDiff(id, page, which, drafts);
  const [open, setOpen] = useState(new Map());
  const [point, setPoint] = useState(null);
  const [writing, setWriting] = useState(null);
  const box = useRef(null);
  const {diff, error, head} = shown;
  seen.current = which.name === "now" ? head : which.head ?? head;
  const isOpen = (path) => open.get(path) ?? opens(diff, path);
  const fold = (path, value) => setOpen((old) => new Map(old).set(path, value));
  const flip = () => setSplit((old) => { remember("diff.split", !old); return !old; });
  const versions = versionsOf(page);
  const mayComment = ["message", "reject"].some((action) => page.task.may.includes(action));
  const comment = (next) => {
    setPoint(next);
    if (mayComment) setWriting(placeOf(next));
  };
  const choose = (event, row, path) => {
    if (!event.target.closest("textarea, button") && !String(getSelection())) comment(pointOf(event, row, path));
  };
  const send = async (then) => {
    const refusal = await sendDrafts({id, drafts, head: seen.current, then});
    setWriting(null);
    if (refusal?.code !== "outdated") return;
    const {seen: old = seen.current, now = page.task.head} = refusal;
    setWhich({name: "since", from: old, to: now, head: now, words: refusal.message});
  };
  useFileKeys({box, diff, open: isOpen, fold, flip, point, setPoint, comment});
  const current = point && placeOf(point);
  const held = useMemo(() => findings.filter((one) => isOn(one, which, page)), [findings, which, page.versions]);
  useGoal({goal, box, diff, which, setWhich, versions, page, fold});
  const notes = (places) => [...findingNotes(held, page.versions, places), ...draftNotes(places)];
  const draftNotes = (places) => places.flatMap((place) => {
    const draft = drafts.at(place) ?? (writing === place && point ? {...point, text: ""} : null);
    if (!draft) return [];
    const props = {draft, drafts, target, send, version: nameOf(page, seen.current), writing: writing === place};
    return [html`<${CommentNote} key=${place} ...${props} write=${(to) => setWriting(to === null ? null : place)} />`];
  });
  const marks = (places) => ({isCurrent: places.includes(current), notes: notes(places)});
  const count = diff?.count ?? diff?.files.length ?? 0;
  return html`<section class="panel changes" aria-label="Changes" ref=${box} id="changes">
    <header><h2>Changes</h2>
      ${(page.versions.length > 0 || isChanging(page))
        && html`<span class="seg">
        ${versions.map((version) => html`
        <button type="button" key=${version.name} aria-pressed=${String(version.name === which.name)}
        onClick=${() => setWhich(version)} title=${version.title}>${version.words}</button>`)}</span>`}
      <span class="end">${diff && count > 0
        && html`<${Fragment}><${Change} ...${diff} /> in ${plural(count, "file")}</${Fragment}>`}
        <span class="seg"><button type="button" aria-pressed=${String(!split)} onClick=${() => split && flip()}>Unified
          </button><button type="button" aria-pressed=${String(split)} onClick=${() => split || flip()}>Split</button>
          </span></span></header>
    <${Arrived} page=${page} shown=${shown} which=${which} reload=${reload} setWhich=${setWhich} />
    <${DraftBar} drafts=${drafts} target=${target} may=${page.task.may} send=${send}
      show=${() => jumpToNote(box.current, 1)} />
    ${diff?.note && html`<p class="fyi">${diff.note}</p>`}
    ${error && html`<p class="fyi dim">
      <${Words} text=${isChanging(page) ? inWork(page.task, target) : error} /></p>`}
    ${!diff && !error && html`<p class="fyi dim">Reading the change …</p>`}
    ${diff && !count && html`<p class="fyi dim">Nothing differs.</p>`}
    ${diff?.files.map((file) => html`
      <${DiffFile} key=${file.path} ...${{id, file, which, split, marks, choose, drafts}} isOpen=${isOpen(file.path)}
      findings=${held.filter((one) => one.path === file.path)} page=${page}
      toggle=${() => fold(file.path, !isOpen(file.path))} />`)}
    ${diff && count > diff.files.length
      && html`<p class="fyi dim">${plural(count - diff.files.length, "more file")}: <code>paddock diff ${id}
      </code> shows all</p>`}
  </section>`;
}

function inWork({insertions, deletions, files}, target) {
  const edited = insertions + deletions > 0
    ? `It has edited ${plural(insertions + deletions, "line")} in ${plural(files, "file")} so far. ` : "";
  return `${target} has committed nothing yet. ${edited}What it commits is shown here, for comments on its lines.`;
}

/** The change that is on show, loaded again when there is another one and nobody is in the middle of it. */
function useDiff(id, page, which, drafts) {
  const [shown, setShown] = useState({diff: null, error: "", head: null, of: ""});
  const [turn, setTurn] = useState(0);
  const {task, transcript, versions} = page;
  const work = isChanging({transcript}) ? `${task.insertions}.${task.deletions}.${task.files}` : "";
  const wanted = `${id} ${which.name} ${which.from ?? ""} ${which.to ?? ""} ${turn}`;
  const fresh = `${task.head} ${task.phase} ${versions.length} ${work}`;
  const isFirst = !shown.of.startsWith(`${wanted} `);
  useEffect(() => {
    if (!isFirst && (which.name !== "now" || drafts.list.peek().length
      || shown.of === `${wanted} ${fresh}`)) return undefined;
    let isGone = false;
    const load = async () => {
      const asked = which.name === "now" ? {} : {from: which.from, to: which.to};
      const of = `${wanted} ${fresh}`;
      if (!task.may.includes("diff")) {
        setShown({diff: null, error: "No agent has worked on this yet.", head: null, of});
        return;
      }
      try {
        const diff = await get(`tasks/${id}/diff`, asked);
        if (!isGone) setShown({diff, error: "", head: task.head, of, at: diff.after});
      } catch (problem) {
        if (!isGone) setShown({diff: null, error: problem.message, head: task.head, of});
      }
    };
    const timer = setTimeout(load, isFirst ? 0 : CALM_MILLISECONDS);
    return () => { isGone = true; clearTimeout(timer); };
  }, [wanted, fresh]);
  return [shown, () => setTurn((old) => old + 1)];
}

/** A newer version never replaces what somebody comments on: it is announced. */
function Arrived({page, shown, which, reload, setWhich}) {
  const {task, versions} = page;
  if (which.name === "since") {
    return html`<div class="drafts" role="alert"><span>${which.words} This is the difference since what you saw.</span>
      <span class="acts"><button type="button" class="b" onClick=${() => setWhich({name: "now"})}>Show the whole change
        </button></span></div>`;
  }
  if (which.name !== "now" || !shown.head || !task.head || shown.head === task.head) return null;
  const version = versions.find((one) => one.head === task.head)?.version;
  const since = {name: "since", from: shown.head, to: task.head, head: task.head, words: ""};
  return html`<div class="drafts" role="status"><span>
    ${version ? `v${version}` : "A new version"} arrived while you were reading.</span>
    <span class="acts"><button type="button" class="b" onClick=${() => setWhich(since)}>What changed since</button>
      <button type="button" class="b" onClick=${reload}>Show it</button></span></div>`;
}

function nameOf({versions}, head) {
  const known = versions.find((one) => one.head === head);
  return known ? `v${known.version}` : (head ?? "the change").slice(0, 10);
}

/** Whether an agent is at work that may change files: one that reviews changes none. */
export function isChanging({transcript}) {
  return Boolean(transcript?.live) && transcript.role === "work";
}

function versionsOf({task, versions, transcript}) {
  const last = versions.at(-1);
  const inWork = isChanging({transcript});
  const name = inWork ? `v${versions.length + 1}, in work` : last ? `v${last.version}` : "so far";
  const older = (inWork ? versions : versions.slice(0, -1)).slice(-SHOWN_VERSIONS);
  const whole = older.filter((one) => one.base).map((one) => ({name: `v${one.version}`, words: `v${one.version}`,
    from: one.base, to: one.head, head: one.head, title: `as delivered by ${one.attempt ?? "hand"}`}));
  const step = last && older.length && !inWork
    ? [{name: "step", words: `v${older.at(-1).version} → v${last.version}`, from: older.at(-1).head, to: last.head,
      head: last.head, title: "only what changed between the two"}]
    : [];
  return [...whole, {name: "now", words: name, title: task.phase === "landed" ? "what landed" : "what would land now"},
    ...step];
}

/** The first file is open, and others until all come to two thousand lines. */
function opens(diff, path) {
  if (diff?.files[0]?.path === path) return true;
  let lines = 0;
  for (const file of diff?.files ?? []) {
    lines += linesOf(file);
    if (file.path === path) return lines <= OPEN_LINES;
  }
  return true;
}

function linesOf(file) {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
}

const STATUS = {A: "new", D: "deleted", R: "moved", T: "another kind of file"};

function DiffFile({id, file, which, split, marks, choose, drafts, isOpen, toggle, findings, page}) {
  const [whole, setWhole] = useState(null);
  useEffect(() => setWhole(null), [file]);
  const shown = whole ?? file;
  const load = async () => {
    const asked = which.name === "now" ? {} : {from: which.from, to: which.to};
    const found = await get(`tasks/${id}/diff`, {...asked, path: file.path});
    setWhole(found.files[0]);
  };
  const here = drafts.list.value.filter((one) => one.path === file.path).length;
  const words = [STATUS[file.status], file.mode, file.binary && "not text"].filter(Boolean).join(", ");
  const apart = useMemo(() => notesApart(findings, shown, page.versions), [shown, findings]);
  const counts = [findings.length && plural(findings.length, "finding"), here && plural(here, "comment")];
  return html`<${Fragment}>
    <button type="button" class=${`dh${isOpen ? " open" : ""}`} aria-expanded=${String(isOpen)} data-file
      onClick=${toggle}>
      <${Icon} name="chev" /><span class="cut isolate">${file.old_path ? `${file.old_path} → ${file.path}` : file.path}
        </span>
      <span class="end">${counts.filter(Boolean).map((count) => `${count} · `).join("")}
        ${words && html`<span class="dim">${words} </span>`}<${Change} ...${file} /></span></button>
    ${isOpen && html`<${Fragment}>
      ${apart}
      ${shown.hunks.length > 0 && html`<${FileLines} file=${shown} split=${split} marks=${marks} choose=${choose} />`}
      ${file.truncated && !whole
        && html`<p class="fyi"><button type="button" class="link" onClick=${load}>
        Show ${shown.hunks.length ? "the rest of this file" : "this file"}</button></p>`}
      ${whole?.truncated && html`<p class="fyi dim">Only the first ${plural(linesOf(whole), "line")}: <code>
        paddock diff ${id}</code> shows all</p>`}
    </${Fragment}>`}
  </${Fragment}>`;
}

function useFileKeys({box, diff, open, fold, flip, point, setPoint, comment}) {
  const lines = useMemo(() => (diff?.files ?? []).flatMap((file) => (open(file.path) ? pointsOf(file) : [])),
    [diff, open]);
  const step = (by) => {
    const at = point ? lines.findIndex((one) => placeOf(one) === placeOf(point)) : -1;
    const next = lines[Math.max(0, Math.min(lines.length - 1, at + by))];
    if (!next) return;
    setPoint(next);
    requestAnimationFrame(() => {
      const line = box.current?.querySelector(`[data-place="${CSS.escape(placeOf(next))}"]`);
      line?.scrollIntoView({block: "nearest"});
    });
  };
  useKeys({
    j: ["next line", () => step(1)],
    k: ["previous line", () => step(-1)],
    c: ["comment on the line", () => { if (point) comment(point); else step(1); }],
    "]": ["next file", () => jumpTo(box.current, "[data-file]", 1)],
    "[": ["previous file", () => jumpTo(box.current, "[data-file]", -1)],
    n: ["next comment", () => jumpToNote(box.current, 1)],
    p: ["previous comment", () => jumpToNote(box.current, -1)],
    o: ["unfold all files", () => diff?.files.forEach((file) => fold(file.path, true))],
    u: ["unified or split", flip],
    d: ["the change", () => box.current?.scrollIntoView({block: "start"})],
  }, {scope: "Change"});
}

function pointsOf(file) {
  return file.hunks.flatMap((hunk) => hunk.lines.filter((line) => line.k !== "\\").map((line) => {
    const side = line.new == null ? "old" : "new";
    return {path: file.path, side, line: line[side], quote: line.t};
  }));
}

function jumpToNote(box, by) {
  jumpTo(box, "[data-comment]", by);
}

/** To the next of these beyond the middle of what is seen. */
function jumpTo(box, selector, by) {
  const found = [...(box?.querySelectorAll(selector) ?? [])];
  const edge = 100;
  const tops = found.map((one) => one.getBoundingClientRect().top);
  const at = by > 0 ? tops.findIndex((top) => top > edge + 4) : tops.findLastIndex((top) => top < edge - 4);
  if (at < 0) return;
  scrollBy({top: tops[at] - edge});
  if (found[at].matches("button")) found[at].focus({preventScroll: true});
}
