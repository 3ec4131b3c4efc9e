// Ctrl-K: tasks, convoys and pages by name, and what can be done now with the row the keyboard is on.

import {html, signal, useEffect, useMemo, useRef, useState} from "../lib/ui.js";
import {ACTIONS, keyOf, perform, rowOf} from "../lib/actions.js";
import {someOf} from "../lib/format.js";
import {at, root} from "../lib/place.js";
import {convoyPath, go, taskPath} from "../lib/route.js";
import {documentOf} from "../lib/state.js";
import {nextTheme, theme} from "../lib/theme.js";
import {Icon, Mark} from "./badge.js";
import {Dialog, hasDialog, openDialog} from "./dialog.js";
import {openNewTask} from "./new-task.js";
import {openRepositories} from "./repositories.js";

const MOST = 12;

/** The tasks that actions of the palette are about: a page sets it. */
export const subject = signal([]);

const PAGES = [
  ["Board", "/", "board"],
  ["Merge queue", "/queue", "queue"],
  ["Fleet", "/fleet", "fleet"],
  ["Insight", "/insight", "insight"],
  ["Log", "/log", "log"],
];

export function openPalette() {
  if (!hasDialog()) openDialog(Palette);
}

function Palette({close}) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef(null);
  const found = useMemo(() => search(entries(), text), [text]);
  useEffect(() => { list.current?.children[chosen]?.scrollIntoView({block: "nearest"}); }, [chosen]);
  const run = (entry) => {
    close(true);
    entry.run();
  };
  const onKeyDown = (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) setChosen((found.length + chosen + step) % Math.max(1, found.length));
    else if (event.key === "Enter" && found[chosen]) run(found[chosen]);
    else return;
    event.preventDefault();
  };
  const onInput = (event) => {
    setText(event.currentTarget.value);
    setChosen(0);
  };
  return html`<${Dialog} title="Find or do anything" close=${close} size="palette">
    <input class="field" type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" data-first
      autocomplete="off" spellcheck="false"
      aria-label="Find or do anything" aria-activedescendant=${found[chosen] ? `palette-${chosen}` : null}
      placeholder="A task, a convoy, a page, or what to do" value=${text} onInput=${onInput} onKeyDown=${onKeyDown} />
    <ul id="palette-list" role="listbox" aria-label="Found" ref=${list}>
      ${found.map((entry, index) => html`<li id=${`palette-${index}`} role="option" aria-selected=${index === chosen}
        onMouseMove=${() => setChosen(index)} onClick=${() => run(entry)}>
        ${entry.phase ? html`<${Mark} of=${entry.phase} />` : html`<${Icon} name=${entry.icon} />`}
        <span class="cut">${entry.id && html`<span class="id">${entry.id}</span> `}${entry.words}</span>
        <span class="dim">${entry.kind}</span></li>`)}
    </ul>
    ${!found.length && html`<p class="dim none">Nothing is called that</p>`}
  </${Dialog}>`;
}

function entries() {
  return [...actionEntries(), ...pageEntries(), ...repositoryEntries(), ...convoyEntries(), ...taskEntries()];
}

function actionEntries() {
  const ids = subject.peek();
  const offered = Object.keys(ACTIONS).filter((action) => ids.some((id) => rowOf(id)?.may.includes(action)));
  return offered.map((action) => {
    const legal = ids.filter((id) => rowOf(id)?.may.includes(action));
    const {words, icon} = ACTIONS[action];
    return {words: `${words} ${someOf(legal)}`, kind: keyOf(action, ids), icon, run: () => perform(action, legal)};
  });
}

function pageEntries() {
  const pages = PAGES.map(([words, path, icon]) => ({words, kind: "page", icon, run: () => go(at(path))}));
  const others = [
    {words: "New task or convoy", kind: "n", icon: "plus", run: () => openNewTask()},
    {words: "Light, dark or as the system", kind: theme.value, icon: "edit", run: nextTheme},
  ];
  return [...others, ...pages];
}

function repositoryEntries() {
  return root ? [{words: "Another repository", kind: "o", icon: "fleet", run: () => openRepositories()}] : [];
}

function convoyEntries() {
  const convoys = documentOf("board").peek()?.convoys ?? new Map();
  return [...convoys.keys()].map((name) => {
    const path = convoyPath(name);
    return {words: name, kind: "convoy", icon: "board", run: () => go(path)};
  });
}

function taskEntries() {
  const tasks = documentOf("board").peek()?.tasks ?? new Map();
  return [...tasks.values()].map((row) => {
    const {id, title, phase} = row.peek();
    return {id, words: title, phase, kind: phase, run: () => go(taskPath(id))};
  });
}

/** All words must be found; what begins with the text comes first. */
export function search(all, text, most = MOST) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const entry of all) {
    const within = `${entry.id ?? ""} ${entry.words} ${entry.kind}`.toLowerCase();
    if (!words.every((word) => within.includes(word))) continue;
    const exact = entry.id === words[0] ? 0 : within.trimStart().startsWith(words[0] ?? "") ? 1 : 2;
    found.push([exact, entry]);
  }
  return found.sort(([one], [other]) => one - other).slice(0, most).map(([, entry]) => entry);
}
