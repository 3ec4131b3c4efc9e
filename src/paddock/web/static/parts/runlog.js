// What a CI run printed, in a panel at the side; follows while the run goes on.

import {html, useEffect, useLayoutEffect, useRef, useState} from "../lib/ui.js";
import {get} from "../lib/api.js";
import {bytes} from "../lib/format.js";
import {Dialog, openDialog} from "./dialog.js";

const FOLLOW_MILLISECONDS = 1_000;
const KEPT_CHARS = 800_000;

export function openRunLog(run) {
  openDialog(RunLog, {run});
}

function RunLog({run, close}) {
  const [step, setStep] = useState(null);
  const [part, problem] = useLog(run, step);
  const box = useRef(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => { if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight; }, [part]);
  const onScroll = () => {
    const {scrollHeight, scrollTop, clientHeight} = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
  };
  return html`<${Dialog} title=${`CI run ${run}`} close=${close} size="side">
    <header><h2>CI run ${run}</h2>${part?.live && html`<span class="chip c running">running</span>`}
      <span class="end">${part && bytes(part.size)}<button type="button" class="b" autofocus onClick=${() => close(null)}>Close <kbd>esc</kbd></button></span></header>
    ${part?.steps.length > 1 && html`<div class="in"><span class="seg">${part.steps.map((one) => html`<button type="button" key=${one.number} aria-pressed=${String(one.number === part.step)} onClick=${() => setStep(one.number)}>${one.name}</button>`)}</span></div>`}
    ${problem && html`<p class="fyi dim">${problem}</p>`}
    ${part && part.start > 0 && html`<p class="fyi dim">the end of ${bytes(part.size)}: <code>paddock tail ${run}</code> prints all</p>`}
    <pre class="raw" ref=${box} tabindex="0" onScroll=${onScroll} aria-label="What it printed">${part?.text}</pre>
  </${Dialog}>`;
}

function useLog(run, step) {
  const [part, setPart] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let timer = 0;
    let isGone = false;
    let known = null;
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
        if (error.code === "cut") timer = setTimeout(read, FOLLOW_MILLISECONDS);
      }
    };
    setPart(null);
    read();
    return () => { isGone = true; clearTimeout(timer); };
  }, [run, step]);
  return [part, problem];
}
