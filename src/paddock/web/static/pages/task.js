// One task: what it is doing, how it got here, what may be done and why not the rest.

import {Fragment, html, useEffect, useMemo, useRef, useState} from "../lib/ui.js";
import {perform} from "../lib/actions.js";
import {get} from "../lib/api.js";
import {draftsOf} from "../lib/comment-drafts.js";
import {bytes, money} from "../lib/format.js";
import {useKeys} from "../lib/keys.js";
import {FINISHED} from "../lib/phases.js";
import {at} from "../lib/place.js";
import {convoyPath} from "../lib/route.js";
import {session} from "../lib/session.js";
import {taskPath} from "../lib/route.js";
import {documentOf, onRecords} from "../lib/state.js";
import {watch} from "../lib/stream.js";
import {Age} from "../parts/age.js";
import {Change, Icon, Need, State} from "../parts/badge.js";
import {sendDrafts} from "../parts/task/comments.js";
import {Changes, isChanging} from "../parts/task/diff.js";
import {openEdit} from "../parts/task/edit.js";
import {openResolve} from "../parts/task/resolve.js";
import {subject} from "../parts/palette.js";
import {openRunLog} from "../parts/queue/run-log.js";
import {CiRuns, Cost, Facts, YouCan, wordsOf} from "../parts/task/side.js";
import {Answer} from "../parts/task/answer.js";
import {Findings, findingsOf} from "../parts/task/findings.js";
import {Plan} from "../parts/task/plan.js";
import {Question} from "../parts/task/question.js";
import {Acceptance, Review} from "../parts/task/review.js";
import {AllEvents, Way} from "../parts/task/timeline.js";
import {Transcript} from "../parts/task/transcript.js";
import {BeforeItStarts, FirstPrompt} from "../parts/task/unstarted.js";
import {Unblock, Words} from "../parts/words.js";

const BRIEF_CHARS = 600;
const NEAREST = 4;
/** How the server answers a name that is no task's. */
const NOT_THERE = [400, 404];
const HEADER = ["approve", "reject", "message", "stop", "retry"];
const SIGNS = {approve: "approval", reject: "failed", message: "msg", stop: "stop", retry: "retry"};
const KEYS = {approve: "a", reject: "r", message: "m", stop: "s", retry: "t"};
/** What clears a need is the one filled button. */
const MAIN = {approve: "approve", answer: "message", blocked: "retry", failed: "retry"};

function Page({params}) {
  const document = documentOf(`task:${params.task}`);
  const page = document.value;
  useEffect(() => {
    subject.value = [params.task];
    return () => { subject.value = []; };
  }, [params.task]);
  if (!page) return html`<${Waiting} id=${params.task} />`;
  return html`<${Task} key=${params.task} id=${page.task.id} page=${page} live=${document} />`;
}

/** Nothing has come yet: the task is unknown, or the stream is not there. */
function Waiting({id}) {
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const ask = () => get(`tasks/${encodeURIComponent(id)}`).then(() => {
      setProblem(null);
      watch(`task:${id}`);
    }, (error) => {
      setProblem(error);
      if (NOT_THERE.includes(error.status)) watch(null); // the rest of the page stays live without it
    });
    ask();
    return onRecords((found) => { if (found.some(({task}) => task === id)) ask(); });
  }, [id]);
  if (!problem) return html`<main class="page" aria-busy="true"></main>`;
  return html`<main class="page"><section class="panel blank"><h1 class="isolate">
    <${Words} text=${problem.message[0].toUpperCase() + problem.message.slice(1)} /></h1>
    <p class="isolate"><${Words} text=${problem.hint} /></p>
    ${NOT_THERE.includes(problem.status) && html`<${Nearest} id=${id} />`}
    <a class="b main" href=${at("/")}>To the board</a></section></main>`;
}

/** Tasks on the board with the nearest numbers; the newest where the name has none. */
function Nearest({id}) {
  const tasks = documentOf("board").value?.tasks;
  if (!tasks?.size) return null;
  const wanted = Number(/\d+/.exec(id)?.[0] ?? Infinity);
  const numberOf = (name) => Number(name.slice(1));
  const away = (name) => (Number.isFinite(wanted) ? Math.abs(numberOf(name) - wanted) : -numberOf(name));
  const nearest = [...tasks.keys()].sort((one, other) => away(one) - away(other)).slice(0, NEAREST);
  return html`<ul class="nearest" aria-label="Nearest tasks">${nearest.map((name) => html`<li key=${name}>
    <a class="id" href=${taskPath(name)}>${name}</a> <span class="isolate">${tasks.get(name).value.title}</span></li>`)}
    </ul>`;
}

function Task({id, page, live}) {
  const {task} = page;
  const seen = useRef(task.head);
  const field = useRef(null);
  const drafts = draftsOf(session.value?.folder ?? session.value?.repo ?? "", id);
  const target = task.attempt ?? id;
  const act = (action) => {
    if (action === "message") return field.current?.focus();
    if (action === "edit") return openEdit(page);
    if (action === "resolve") return openResolve(id);
    if (action === "reject" && drafts.list.peek().length) return sendDrafts({id, drafts, head: seen.current,
      then: "reject"});
    return perform(action, [id], {heads: {[id]: seen.current}});
  };
  useTaskKeys(page, act);
  const work = isChanging(page) ? `${task.insertions} ${task.deletions} ${task.files}` : "";
  const [goal, setGoal] = useState(null);
  const told = live.changesOf("findings");
  const findings = useMemo(() => findingsOf(page), [page.findings, told.value]);
  // What is long is drawn again only for what it shows: a step of the agent is told every second.
  const changes = useMemo(
    () => html`<${Changes} id=${id} page=${page} drafts=${drafts} seen=${seen} target=${target} findings=${findings}
      goal=${goal} />`,
    [drafts, target, page.versions, task.head, task.phase, task.may.join(), isChanging(page), work, findings, goal],
  );
  const answer = {plan: Plan, review: findings.length ? Findings : Answer}[task.role] ?? Answer;
  const isNew = !page.attempts.length && !page.versions.length;
  return html`<main class="page task">
    <div class="crumb"><a href=${at("/")}>Board</a><span>/</span>
      ${task.convoy && html`<${Fragment}><a href=${convoyPath(task.convoy)}>convoy ${task.convoy}
      </a><span>/</span></${Fragment}>`}<span class="mono">${id}</span></div>
    <div class="head"><div><h1 class="isolate">${task.title}</h1></div><div class="acts">
      ${headerOf(task).map((action) => html`
      <button type="button" key=${action} class="b" onClick=${() => act(action)}><${Icon} name=${SIGNS[action]} />
      ${wordsOf(action)} <kbd>${KEYS[action]}</kbd></button>`)}</div></div>
    <${Say} page=${page} />
    <${Question} key=${page.question?.seq} id=${id} question=${page.question}
      mayAnswer=${task.may.includes("message")} />
    <${Brief} id=${id} brief=${withoutTitle(page.brief, task.title)} hasPrompt=${!isNew} />
    <${Way} page=${page} changes=${live.changesOf("timeline")} />
    <div class="bench">
      ${isNew ? html`<${BeforeItStarts} task=${task} />`
        : html`<${Transcript} id=${id} page=${page} field=${field} />`}
      <div class="stack">${isNew ? html`<${FirstPrompt} id=${id} />`
        : task.role === "work" ? changes : html`<${answer} id=${id} page=${page} changes=${told} />`}
        <${AllEvents} page=${page} changes=${live.changesOf("timeline")} openRun=${openRunLog} /></div>
      <aside class="stack" aria-label="What can be done">
        <${YouCan} id=${id} choices=${page.choices} act=${act}
          main=${drafts.list.value.length || page.question || page.plan_waits ? null : MAIN[task.need]} />
        ${task.role === "work" && html`<${Findings} page=${page} changes=${told}
          goTo=${(finding) => setGoal({finding})} />`}
        <${Review} page=${page} changes=${[live.changesOf("verdicts"), live.changesOf("checks")]} />
        <${Acceptance} accept=${page.accept} />
        <${CiRuns} page=${page} changes=${live.changesOf("runs")} openRun=${openRunLog} />
        <${Cost} cost=${page.cost} />
        <${Facts} page=${page} />
      </aside>
    </div>
    <p class="hint"><span><kbd>]</kbd><kbd>[</kbd>next, previous file</span><span><kbd>j</kbd><kbd>k</kbd>line</span>
      <span><kbd>c</kbd>comment on the line</span><span><kbd>F</kbd>follow</span><span><kbd>o</kbd>unfold all</span>
      <span><kbd>u</kbd>unified or split</span><span><kbd>?</kbd>all keys</span></p>
  </main>`;
}

/** What clears the need first; landing what nobody has delivered is possible, but not what one would look for. */
function headerOf({may, need, head}) {
  const offered = HEADER.filter((action) => may.includes(action) && (action !== "approve" || head));
  return offered.sort((one, other) => Number(other === MAIN[need]) - Number(one === MAIN[need]));
}

function useTaskKeys(page, act) {
  const bound = (action) => () => { if (page.task.may.includes(action)) act(action); };
  useKeys({
    a: ["approve", bound("approve")],
    r: ["reject", bound("reject")],
    m: ["message", bound("message")],
    s: ["stop", bound("stop")],
    t: ["retry", bound("retry")],
    e: ["edit", bound("edit")],
  }, {scope: "Task"});
}

/** State, reason, evidence, since: the sentence that would do if the rest failed to load. */
function Say({page}) {
  const {task} = page;
  const isLive = Boolean(page.transcript?.live);
  const isOver = FINISHED.has(task.phase);
  const doing = task.held ? `held by ${task.held}` : isLive && task.need !== "answer" && task.phase !== "reviewing"
    ? `attempt ${task.attempts}, turn ${task.turn}${task.step ? `: ${task.step}` : ""}` : task.reason;
  return html`<div class="say" role="status">${task.need === "answer" ? html`<${Need} of="answer" />`
    : html`<${State} of=${task.phase} />`}
    ${doing && html`<span class="isolate"><${Words} text=${doing} /></span>`}
    ${task.stuck && html`<span class="late isolate">${task.stuck}</span>`}
    ${task.unblock && html`<span class="isolate"><${Unblock} text=${task.unblock} /></span>`}
    <span class="dim">${isOver ? "" : "for "}<${Age} at=${task.since} />${isOver && " ago"}
      ${isLive && task.step_at && html`, last step <${Age} at=${task.step_at} /> ago`}</span>
    <span class="dim">${[task.agent, task.engine].filter(Boolean).join(" · ")}</span>
    ${(task.insertions > 0 || task.deletions > 0) && html`<span><${Change} ...${task} /></span>`}
    ${task.cost_usd != null && html`<span>${money(task.cost_usd)}</span>`}
    ${task.lost && html`<span class="bad">main no longer has it</span>`}</div>`;
}

/** A first line that is the title was read above. */
function withoutTitle(brief, title) {
  const [first, ...rest] = brief.split("\n");
  const body = rest.join("\n").trim();
  return body && first.replace(/^#+ */, "").trim() === title.trim() ? body : brief;
}

function Brief({id, brief, hasPrompt}) {
  const [isWhole, setWhole] = useState(false);
  const [prompt, setPrompt] = useState(null);
  const isLong = brief.length > 1.25 * BRIEF_CHARS;
  const load = async () => {
    if (prompt) return setPrompt(null);
    try {
      return setPrompt((await get(`tasks/${id}/prompt`)).text);
    } catch (error) {
      return setPrompt(error.message);
    }
  };
  return html`<section class="panel brief0" aria-label="Brief"><div class="in brief"><span class="words">
    <${Words} text=${isWhole || !isLong ? brief : `${brief.slice(0, BRIEF_CHARS)} …`} /></span>
    <span class="acts">${isLong
      && html`<button type="button" class="link" onClick=${() => setWhole(!isWhole)}>
      ${isWhole ? "less" : `all of it, ${bytes(brief.length)}`}</button>`}
      ${hasPrompt && html`<button type="button" class="link" aria-expanded=${String(Boolean(prompt))} onClick=${load}>
        ${prompt ? "without the prompt" : "whole prompt"}</button>`}</span>
    ${prompt && html`<pre class="raw small" tabindex="0" aria-label="The prompt of a first turn">${prompt}</pre>`}</div>
      </section>`;
}

export default {title: ({task}) => task, view: ({task}) => `task:${task}`, Page};
