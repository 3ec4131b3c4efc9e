// New tasks: one, or several that wait for each other as a convoy.

import {html, useEffect, useRef, useState} from "../lib/ui.js";
import {get, post} from "../lib/api.js";
import {emptyTask, forgetDraft, keepDraft, placeOf, recallDraft, requestOf} from "../lib/task-draft.js";
import {plural, someOf} from "../lib/format.js";
import {go, taskPath} from "../lib/route.js";
import {toast} from "../lib/toasts.js";
import {Icon} from "./badge.js";
import {Dialog, hasDialog, openDialog} from "./dialog.js";

const NO_CHOICES = {agents: [], engines: [], kinds: [], convoys: [], attempts: null};

export function openNewTask({isConvoy = false} = {}) {
  if (!hasDialog()) openDialog(NewTask, {isConvoy});
}

function NewTask({isConvoy, close}) {
  const [draft, setDraft] = useState(() => withTwo(recallDraft(), isConvoy));
  const [choices, setChoices] = useState(NO_CHOICES);
  const [refusal, setRefusal] = useState(null);
  const [isSending, setSending] = useState(false);
  const form = useRef(null);
  useEffect(() => { get("config").then(setChoices, () => {}); }, []);
  const change = (next) => {
    setDraft(next);
    keepDraft(next);
    setRefusal(null);
  };
  const changeTask = (index, fields) => {
    change({...draft, tasks: draft.tasks.map((task, at) => (at === index ? {...task, ...fields} : task))});
  };
  const addTask = () => {
    change({...draft, tasks: [...draft.tasks, emptyTask()]});
    requestAnimationFrame(() => [...form.current.querySelectorAll("textarea")].at(-1)?.focus());
  };
  const submit = async (event) => {
    event?.preventDefault();
    if (isSending || !form.current.reportValidity()) return;
    setSending(true);
    try {
      const {ids} = await post("tasks", requestOf(draft));
      forgetDraft();
      close(ids);
      toast({words: `${someOf(ids)} added`, act: {words: "Open", run: () => go(taskPath(ids[0]))}});
    } catch (error) {
      setRefusal(error);
      setSending(false);
    }
  };
  const onKeyDown = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event); };
  const isMany = draft.tasks.length > 1;
  const place = refusal && placeOf(refusal.message);
  const badField = (index) => (place && place.index === index ? place.field : "");
  return html`<${Dialog} title=${isMany ? "New convoy" : "New task"} close=${close} size="large">
    <form ref=${form} onSubmit=${submit} onKeyDown=${onKeyDown}>
      <header><h2>${titleOf(draft)}</h2></header>
      <div class="in">
        ${refusal && html`<p class="bad" role="alert">${refusal.message}<br /><span class="dim">${refusal.hint}</span>
          </p>`}
        ${(isMany || draft.convoy) && html`
          <${ConvoyFields} draft=${draft} bad=${badField(-1)} change=${change} convoys=${choices.convoys} />`}
        ${draft.tasks.map((task, index) => html`
          <${TaskFields} key=${index} index=${index} task=${task} count=${draft.tasks.length} choices=${choices}
            bad=${badField(index)}
            change=${(fields) => changeTask(index, fields)} remove=${() => change(without(draft, index))} />`)}
        <div class="acts gap-top">
          <button type="submit" class="b main" aria-disabled=${isSending ? "true" : null}>
            ${isMany ? `Add ${plural(draft.tasks.length, "task")}` : "Add task"} <kbd>Ctrl ↵</kbd></button>
          <button type="button" class="b" onClick=${addTask}><${Icon} name="plus" />Another task</button>
          <button type="button" class="b" onClick=${() => close(null)}>Close</button>
          <span class="dim">the draft is kept in this browser</span>
        </div>
      </div>
    </form>
  </${Dialog}>`;
}

function titleOf({convoy, tasks}) {
  if (tasks.length === 1) return "New task";
  return convoy ? `New convoy of ${tasks.length} tasks` : `${tasks.length} new tasks`;
}

function ConvoyFields({draft, bad, change, convoys}) {
  const set = (name) => (event) => change({...draft, [name]: event.currentTarget.value});
  return html`<div class="form">
    <${Field} label="Convoy" bad=${bad === "convoy"}
      note="its name, such as pg16; an existing one is extended; without one they are tasks by themselves">
      <input class="field" list="convoys" value=${draft.convoy} onInput=${set("convoy")} /></${Field}>
    <datalist id="convoys">${convoys.map((name) => html`<option value=${name} />`)}</datalist>
    <${Field} label="What it is about" bad=${bad === "title"}>
      <input class="field" value=${draft.title} onInput=${set("title")} /></${Field}>
  </div>`;
}

function TaskFields({index, task, count, choices, bad, change, remove}) {
  const input = (name) => ({
    class: "field",
    value: task[name],
    "aria-invalid": bad === name ? "true" : null,
    onInput: (event) => change({[name]: event.currentTarget.value}),
  });
  const agents = choices.agents.map((agent) => agent.name);
  const field = (name, label, note, control) => html`<${Field} label=${label} note=${note} bad=${bad === name}>
    ${control}</${Field}>`;
  return html`<fieldset class="form task">
    ${count > 1 && html`<legend>Task ${index + 1} <button type="button" class="link" onClick=${remove}>remove</button>
      </legend>`}
    <label class=${`wide ${bad === "brief" ? "bad" : ""}`}><span>Brief</span>
      <textarea ...${input("brief")} rows=${count > 1 ? 3 : 6} required data-first=${index === 0 ? "" : null}
        placeholder="What should be different afterwards, and how to tell"></textarea></label>
    ${count > 1 && index > 0 && html`<${Waits} index=${index} waits=${task.waits} change=${change} />`}
    <details class="wide" open=${Boolean(bad && bad !== "brief")}><summary>More: title, agent, order, paths</summary>
      <div class="form">
      ${field("title", "Title", "the brief’s first line if empty", html`<input ...${input("title")} />`)}
      ${field("agent", "Agent", "", html`<${Choice} ...${input("agent")} none="as configured" options=${agents} />`)}
      ${field("engine", "Engine", "",
        html`<${Choice} ...${input("engine")} none="the agent’s" options=${choices.engines} />`)}
      ${field("kind", "Kind", "", html`<${Choice} ...${input("kind")} none="none" options=${choices.kinds} />`)}
      ${field("after", "After", "tasks that must land first, such as t3, t5", html`<input ...${input("after")} />`)}
      ${field("paths", "Paths", "where it may work, such as src/api/**", html`<input ...${input("paths")} />`)}
      ${field("priority", "Priority", "higher goes first",
        html`<input ...${input("priority")} type="number" step="1" placeholder="0" />`)}
      ${field("attempts", "Attempts", "", html`<input ...${input("attempts")} type="number" min="1" step="1"
        placeholder=${choices.attempts ?? ""} />`)}
    </div></details>
  </fieldset>`;
}

function Field({label, note, bad, children}) {
  return html`<label class=${bad ? "bad" : null}><span>${label}</span>${children}${note && html`<small>${note}</small>`}
    </label>`;
}

function Choice({options, none, value, onInput, ...rest}) {
  const shown = value && !options.includes(value) ? [...options, value] : options;
  return html`<select ...${rest} value=${value} onChange=${onInput}><option value="">${none}</option>
    ${shown.map((name) => html`<option value=${name} selected=${name === value}>${name}</option>`)}</select>`;
}

function Waits({index, waits, change}) {
  const toggle = (other) => change({waits: waits.includes(other) ? waits.filter((one) => one !== other)
    : [...waits, other]});
  return html`<div class="wide waits" role="group" aria-label=${`Task ${index + 1} waits for`}><span>Waits for</span>
    ${Array.from({length: index}, (_, other) => html`<label>
      <input type="checkbox" checked=${waits.includes(other)} onChange=${() => toggle(other)} />task ${other + 1}
        </label>`)}</div>`;
}

function withTwo(draft, isConvoy) {
  return isConvoy && draft.tasks.length < 2 ? {...draft, tasks: [...draft.tasks, emptyTask()]} : draft;
}

/** Those after the removed one move up, and with them what they wait for. */
function without(draft, index) {
  const moved = (other) => (other > index ? other - 1 : other);
  const tasks = draft.tasks.filter((_, at) => at !== index);
  return {...draft, tasks: tasks.map((task) => ({...task,
    waits: task.waits.filter((other) => other !== index).map(moved)}))};
}
