// What an agent says and does, as it goes: readable, or raw.

import {Fragment, html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState} from "../../lib/ui.js";
import {perform} from "../../lib/actions.js";
import {get} from "../../lib/api.js";
import {bytes, money, plural, timeOfDay} from "../../lib/format.js";
import {useKeys} from "../../lib/keys.js";
import {onRecords} from "../../lib/state.js";
import {Talk, joined} from "../../lib/talk.js";
import {Entry, Opening} from "./entry.js";

const NEAR_THE_END = 48;
const NEAR_THE_TOP = 160;
const RAW_KEPT = 600_000;

/** Messages that were sent from this page and are not in the log yet. */
const sent = signal([]);

onRecords((found) => {
  const told = found.filter((record) => record.kind === "message.sent").map((record) => record.task);
  if (told.length && sent.peek().length) sent.value = sent.peek().filter((one) => !told.includes(one.id));
});

export function Transcript({id, page, field}) {
  const {attempts, transcript} = page;
  const [chosen, setChosen] = useState(null);
  const [isRaw, setRaw] = useState(false);
  const newest = transcript?.attempt ?? attempts.at(-1)?.id ?? null;
  const attempt = attempts.some((one) => one.id === chosen) ? chosen : newest;
  const turns = attempts.find((one) => one.id === attempt)?.turns ?? 0;
  const isNewest = attempt === newest;
  const end = isNewest ? transcript : {attempt, turn: turns, size: 0, live: false};
  const {scroller, follows, stick, onScroll} = useFollowing(attempt);
  useKeys({F: ["follow the transcript", stick]}, {scope: "Transcript"});
  const View = isRaw ? Raw : Readable;
  return html`<section class="panel talk" aria-label="Transcript">
    <header><h2>Transcript</h2>
      ${end?.live && (follows ? html`<span class="chip c running">following</span>`
        : html`<button type="button" class="b small" onClick=${stick}>Follow <kbd>F</kbd></button>`)}
      <span class="end">${attempts.length > 1
        && html`<select class="field small" aria-label="Attempt" value=${attempt}
        onChange=${(event) => setChosen(event.currentTarget.value)}>
          ${attempts.map((one) => html`<option key=${one.id} value=${one.id}>${one.id}
            ${one.outcome ? ` ${one.outcome}` : ""}</option>`)}</select>`}
        <span class="seg"><button type="button" aria-pressed=${String(!isRaw)} onClick=${() => setRaw(false)}>Readable
          </button><button type="button" aria-pressed=${String(isRaw)} onClick=${() => setRaw(true)}>Raw</button></span>
          </span></header>
    <div class="in" ref=${scroller} tabindex="0" onScroll=${onScroll} role="log" aria-live="off"
      aria-label="What the agent said and did">
      ${attempt && turns === 0 && html`<${Setup} key=${attempt} id=${id} attempt=${attempt} />`}
      ${attempt && turns > 0
        ? html`<${View} key=${`${attempt} ${isRaw}`} id=${id} attempt=${attempt} end=${end} scroller=${scroller}
          follows=${follows} page=${page} />`
        : html`<p class="fyi dim">
          ${attempt ? `${attempt} has not begun its first turn` : "No agent has worked on this yet."}</p>`}
      ${isNewest && html`<${SentMessages} id=${id} page=${page} />`}
    </div>
    <${Reply} id=${id} page=${page} field=${field} />
  </section>`;
}

/** Sticks to the end, unless somebody has scrolled up. */
function useFollowing(attempt) {
  const scroller = useRef(null);
  const [follows, setFollows] = useState(true);
  useEffect(() => setFollows(true), [attempt]);
  const onScroll = () => {
    const {scrollHeight, scrollTop, clientHeight} = scroller.current;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_THE_END;
    if (isAtEnd !== follows) setFollows(isAtEnd);
  };
  const stick = () => {
    setFollows(true);
    scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  return {scroller, follows, stick, onScroll};
}

/** After each change: at the end if it follows, else where the reader is, also when older entries come above. */
function useKeptPlace(scroller, follows, mark, content) {
  const kept = useRef({mark: null, height: 0});
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    if (follows) box.scrollTop = box.scrollHeight;
    else if (kept.current.mark !== null
      && mark !== kept.current.mark) box.scrollTop += box.scrollHeight - kept.current.height;
    kept.current = {mark, height: box.scrollHeight};
  }, [content, follows]);
}

function Readable({id, attempt, end, scroller, follows, page}) {
  const talk = useMemo(() => new Talk(id, attempt), [id, attempt]);
  const parts = talk.parts.value;
  const shown = useMemo(() => joined(parts), [parts]);
  useEffect(() => { talk.follow(end); }, [talk, end.turn, end.size, end.live]);
  useEffect(() => { if (follows) talk.forgetOlder(); }, [follows]);
  useEffect(() => {
    const box = scroller.current;
    const onScroll = () => { if (box.scrollTop < NEAR_THE_TOP && talk.hasOlder()) talk.older(); };
    box.addEventListener("scroll", onScroll, {passive: true});
    return () => box.removeEventListener("scroll", onScroll);
  }, [talk]);
  const first = shown[0];
  useKeptPlace(scroller, follows, first && `${first.turn}:${first.shown[0]?.n}`, parts);
  const last = parts.at(-1);
  return html`<${Fragment}>
    ${talk.problem.value && html`<p class="fyi dim">${talk.problem.value}</p>`}
    ${talk.hasOlder() && html`<p class="fyi"><button type="button" class="link" onClick=${() => talk.older()}>
      ${talk.loading.value ? "Reading …" : "Earlier"}</button></p>`}
    ${useMemo(() => shown.map((part) => html`
      <${TurnPart} key=${part.turn} part=${part} attempt=${attempt} turns=${page.turns} />`), [shown, page.turns])}
    ${last?.unfinished && html`<div class=${`msg words${last.live ? " caret" : ""}`}>${last.unfinished}</div>`}
  </${Fragment}>`;
}

function TurnPart({part, attempt, turns}) {
  const turn = turns.find((one) => one.attempt === attempt && one.turn === part.turn);
  return html`<${Fragment}>
    <div class="turn">${turnWords(part.turn, turn)}</div>
    ${part.opening && html`<${Opening} opening=${part.opening} />`}
    ${part.shown.map((entry) => html`<${Entry} key=${entry.n} entry=${entry} isLive=${part.live} />`)}
    ${part.aside.map((entry, index) => html`<${Entry} key=${`aside ${index}`} entry=${entry} />`)}
  </${Fragment}>`;
}

function turnWords(number, turn) {
  if (!turn) return `turn ${number}`;
  if (!turn.ended) return `turn ${number} · since ${timeOfDay(turn.at)}`;
  const facts = [`turn ${number}`, `${timeOfDay(turn.at)} to ${timeOfDay(turn.ended)}`,
    turn.steps && plural(turn.steps, "step"), money(turn.cost_usd)];
  return facts.filter(Boolean).join(" · ");
}

/** The output as it is, from its end on. */
function Raw({id, attempt, end, scroller, follows}) {
  const [turn, setTurn] = useState(end.turn);
  const [part, setPart] = useState(null);
  const [problem, setProblem] = useState("");
  const reach = useRef(null);
  useEffect(() => {
    let isGone = false;
    const read = async () => {
      try {
        const found = await get(`tasks/${id}/raw`, {attempt, turn, after: reach.current});
        if (isGone) return;
        const isMore = reach.current !== null;
        reach.current = found.end;
        setPart((old) => ({...found, start: isMore && old ? old.start : found.start,
          text: `${isMore && old ? old.text : ""}${found.text}`.slice(-RAW_KEPT)}));
      } catch (error) {
        if (!isGone) setProblem(error.message);
      }
    };
    read();
    return () => { isGone = true; };
  }, [turn, end.size, end.live]);
  useKeptPlace(scroller, follows, part?.start ?? null, part);
  const [isReading, setReading] = useState(false);
  const earlier = async () => {
    setReading(true);
    try {
      const found = await get(`tasks/${id}/raw`, {attempt, turn, before: part.start});
      setPart((old) => (old && old.start === part.start ? {...old, start: found.start, text: found.text + old.text}
        : old));
    } catch (error) {
      setProblem(error.message);
    }
    setReading(false);
  };
  const choose = (event) => {
    reach.current = null;
    setPart(null);
    setTurn(Number(event.currentTarget.value));
  };
  return html`<${Fragment}>
    <div class="turn">${end.turn > 1
      ? html`<select class="field small" aria-label="Turn" value=${turn} onChange=${choose}>
      ${Array.from({length: end.turn},
      (_, index) => html`<option key=${index} value=${index + 1}>turn ${index + 1}</option>`)}</select>` : "turn 1"}
      ${part && part.start > 0 && html`<span>the end of ${bytes(part.size)}: <code>paddock tail ${attempt} --raw
        </code> prints all</span>`}</div>
    ${part && part.start > 0 && part.text.length < RAW_KEPT
      && html`<p class="fyi"><button type="button" class="link" disabled=${isReading} onClick=${earlier}>
      ${isReading ? "Reading …" : "Earlier"}</button></p>`}
    ${problem && html`<p class="fyi dim">${problem}</p>`}
    <pre class="raw">${part?.text}</pre>
  </${Fragment}>`;
}

/** Of an attempt whose agent never ran: what the set-up of its worktree printed. */
function Setup({id, attempt}) {
  const [text, setText] = useState("");
  useEffect(() => { get(`tasks/${id}/raw`, {attempt}).then((found) => setText(found.text), () => setText("")); },
    [attempt]);
  return text && html`<${Fragment}><div class="turn">the set-up of its worktree</div><pre class="raw">${text}</pre>
    </${Fragment}>`;
}

/** Messages that were sent and are not in the log yet, or not heard yet. */
function SentMessages({id, page}) {
  const waiting = sent.value.filter((one) => one.id === id);
  const {inbox} = page.task;
  return html`<${Fragment}>
    ${waiting.map((one, index) => html`<div key=${index} class="msg from sent"><small>from you, being sent</small>
      <span class="words">${one.text}</span></div>`)}
    ${inbox > 0 && !waiting.length
      && html`<div class="turn">${inbox === 1 ? "one message waits" : `${inbox} messages wait`} for the end of this turn
      </div>`}
  </${Fragment}>`;
}

function Reply({id, page, field}) {
  const choice = page.choices.find((one) => one.action === "message");
  const target = page.task.attempt ?? id;
  const send = async (event) => {
    event.preventDefault();
    const text = field.current.value.trim();
    if (!text || !choice?.allowed) return;
    field.current.value = "";
    const told = {id, text};
    sent.value = [...sent.value, told];
    const done = await perform("message", [id], {message: text});
    if (!done) {
      sent.value = sent.value.filter((one) => one !== told);
      if (field.current && !field.current.value) field.current.value = text;
    }
  };
  return html`<form class="reply" onSubmit=${send}>
    <input class="field" ref=${field} aria-label=${`Message to ${target}`} autocomplete="off"
      disabled=${!choice?.allowed}
      onKeyDown=${(event) => { if (event.key === "Escape") event.currentTarget.blur(); }}
      placeholder=${choice?.allowed ? `Message ${target}: ${choice.why}` : choice?.why} />
    <button type="submit" class="b" disabled=${!choice?.allowed}>Send <kbd>m</kbd></button></form>`;
}
