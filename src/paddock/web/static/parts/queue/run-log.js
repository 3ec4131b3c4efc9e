// What a CI run printed, in a panel at the side; follows while the run goes on.

import {html, useEffect, useLayoutEffect, useRef, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {bytes, duration, timeOfDay} from "../../lib/format.js";
import {State} from "../badge.js";
import {ChangeId} from "../change-id.js";
import {Dialog, openDialog} from "../dialog.js";
import {Words} from "../words.js";

const FOLLOW_MILLISECONDS = 1_000;
const KEPT_CHARS = 800_000;
/** A run that has just begun has printed nothing yet. */
const MOST_TRIES = 30;
const STATES = {pass: ["landed", "passed"], fail: ["failed", "failed"], timeout: ["failed", "did not end in time"],
  infra: ["noop", "lost"],
  cancelled: ["cancelled", "cancelled"], running: ["running", "running"]};

export function openRunLog(run) {
  return openDialog(RunLog, {run});
}

function RunLog({run, close}) {
  const [step, setStep] = useState(null);
  const [part, problem] = useLog(run, step);
  const story = useStory(run, part?.live);
  const box = useRef(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => { if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight; },
    [part]);
  const onScroll = () => {
    const {scrollHeight, scrollTop, clientHeight} = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
  };
  return html`<${Dialog} title=${`CI run ${run}`} close=${close} size="side">
    <header><h2>CI run ${run}</h2>${story && html`<${Outcome} story=${story} />`}
      <span class="end">${part && bytes(part.size)}
        <button type="button" class="b" autofocus onClick=${() => close(null)}>Close <kbd>esc</kbd></button></span>
        </header>
    ${story && html`<${Facts} story=${story} />`}
    ${part?.steps.length > 1 && html`<div class="in"><span class="seg">
      ${part.steps.map((one) => html`
      <button type="button" key=${one.number} aria-pressed=${String(one.number === part.step)}
      onClick=${() => setStep(one.number)}>${one.name}</button>`)}</span></div>`}
    ${problem && html`<p class="fyi dim"><${Words} text=${problem} /></p>`}
    ${part && part.start > 0 && html`<p class="fyi dim">the end of ${bytes(part.size)}: <code>paddock tail ${run}
      </code> prints all</p>`}
    <pre class="raw" ref=${box} tabindex="0" onScroll=${onScroll} aria-label="What it printed">${part?.text}</pre>
  </${Dialog}>`;
}

/** What the run is and how it ended; again when its output has come to an end. */
function useStory(run, isLive) {
  const [story, setStory] = useState(null);
  useEffect(() => {
    let isGone = false;
    get(`runs/${run}`).then((told) => { if (!isGone) setStory(told); }, () => {});
    return () => { isGone = true; };
  }, [run, isLive]);
  return story;
}

function Outcome({story}) {
  const [of, words] = STATES[story.state] ?? ["plain", story.state];
  const took = story.ended ? duration((Date.parse(story.ended) - Date.parse(story.started)) / 1000) : "";
  return html`<${State} of=${of} words=${words} /><span class="dim">
    ${story.ended ? `after ${took}, at ${timeOfDay(story.ended)}` : `since ${timeOfDay(story.started)}`}</span>`;
}

function Facts({story}) {
  const said = story.cannot_run || story.note;
  return html`<p class="fyi">
    ${story.purpose} of ${story.members.length
    ? story.members.map(({id}, index) => html`${index > 0 && ", "}<${ChangeId} id=${id} />`) : "main itself"}, on <code>
    ${story.base.slice(0, 10)}</code>${said && html`: <${Words} text=${said} />`}</p>`;
}

function useLog(run, step) {
  const [part, setPart] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let timer = 0;
    let isGone = false;
    let known = null;
    let tries = 0;
    const read = async () => {
      try {
        const found = await get(`runs/${run}/log`, {step: step ?? known?.step, after: known?.end});
        if (isGone) return;
        const isSame = known && known.step === found.step;
        known = isSame ? {...found, start: known.start, text: `${known.text}${found.text}`.slice(-KEPT_CHARS)} : found;
        setPart(known);
        setProblem("");
        const hasNext = step === null && found.steps.at(-1).number !== found.step;
        if (hasNext) known = null;
        if (found.live || hasNext) timer = setTimeout(read, hasNext ? 0 : FOLLOW_MILLISECONDS);
      } catch (error) {
        if (isGone) return;
        setProblem(error.message);
        if (error.code === "cut" || (!known && error.status === 409 && tries < MOST_TRIES)) timer = setTimeout(read,
          FOLLOW_MILLISECONDS);
        tries += 1;
      }
    };
    setPart(null);
    read();
    return () => { isGone = true; clearTimeout(timer); };
  }, [run, step]);
  return [part, problem];
}
