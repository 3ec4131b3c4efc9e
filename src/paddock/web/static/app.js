// The page: theme, router, stream, and what stands around every page.

import {Fragment, html, render, signal, useEffect, useErrorBoundary} from "./lib/ui.js";
import {startActions} from "./lib/actions.js";
import {startClock} from "./lib/format.js";
import {startKeys, useKeys} from "./lib/keys.js";
import {at, root} from "./lib/place.js";
import {route, startRouter} from "./lib/route.js";
import {startSession} from "./lib/session.js";
import {isStale, startStream, watch} from "./lib/stream.js";
import {startTheme} from "./lib/theme.js";
import {Dialogs, openDialog} from "./parts/dialog.js";
import {KeyHelp} from "./parts/key-help.js";
import {openNewTask} from "./parts/new-task.js";
import {openPalette} from "./parts/palette.js";
import {openRepositories} from "./parts/repositories.js";
import {Toasts} from "./parts/toast.js";
import {TopBar} from "./parts/top-bar.js";

const pages = signal({});

/** A page is loaded when first visited. */
async function load(name) {
  if (!name || pages.peek()[name]) return;
  let page;
  try {
    page = (await import(`./pages/${name}.js`)).default;
  } catch (error) {
    page = {Page: () => html`<${Broken} what=${error} />`};
  }
  pages.value = {...pages.peek(), [name]: page};
}

function App() {
  const {name, path, params, query} = route.value;
  const page = pages.value[name];
  useEffect(() => { load(name); }, [name]);
  useEffect(() => {
    if (!page) return;
    watch(page.view?.(params, query) ?? null);
    document.title = `${page.title?.(params) ?? "Paddock"} · Paddock`;
  }, [page, path]);
  useKeys({
    "ctrl+k": ["find or do anything", () => openPalette()],
    "?": ["all keys", () => openDialog(KeyHelp)],
    n: ["new task or convoy", () => openNewTask()],
    ...(root ? {o: ["another repository", () => openRepositories()]} : {}),
  });
  return html`<${Fragment}>
    <${TopBar} />
    ${name && page && html`<${Slot} key=${name} Page=${page.Page} params=${params} query=${query} />`}
    ${!name && html`<${Missing} path=${path} />`}
    <${Dialogs} /><${Toasts} />
  </${Fragment}>`;
}

/** A page that fails says so, and leaves the others alone. */
function Slot({Page, params, query}) {
  const [error] = useErrorBoundary((what) => console.error(what));
  return error ? html`<${Broken} what=${error} />` : html`<${Page} params=${params} query=${query} />`;
}

function Missing({path}) {
  return html`<main class="page"><section class="panel blank"><h1>There is no page here</h1>
    <p>Nothing is at <code>${path}</code>.</p><a class="b main" href=${at("/")}>To the board</a></section></main>`;
}

function Broken({what}) {
  return html`<main class="page"><section class="panel blank"><h1>This page could not be loaded</h1>
    <p>${String(what?.message ?? what)}</p>
    <button type="button" class="b main" onClick=${() => location.reload()}>Load it again</button></section></main>`;
}

function start() {
  startTheme();
  startRouter();
  startKeys();
  startActions();
  startClock(isStale);
  watch("board");
  load(route.value.name);
  render(html`<${App} />`, document.getElementById("app"));
  startSession();
  startStream();
}

start();
