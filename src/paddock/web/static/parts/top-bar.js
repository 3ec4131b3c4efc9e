// The bar on top: pages, who needs you, and whether what the page shows is true now.

import {html} from "../lib/ui.js";
import {age, grouped} from "../lib/format.js";
import {at, ownName, root} from "../lib/place.js";
import {route} from "../lib/route.js";
import {session} from "../lib/session.js";
import {documentOf} from "../lib/state.js";
import {pulse, state} from "../lib/stream.js";
import {Icon, Mark, State} from "./badge.js";
import {openPalette} from "./palette.js";
import {openRepositories} from "./repositories.js";
import {Words} from "./words.js";

const PAGES = [
  ["/", "board", "Board"],
  ["/queue", "queue", "Queue"],
  ["/fleet", "fleet", "Fleet"],
  ["/insight", "insight", "Insight"],
  ["/log", "log", "Log"],
];
/** Pages that have no link of their own stand below another one. */
const PART_OF = {run: "insight"};

const UNTRUE = {opening: "connecting", stale: "stale", cut: "stream cut", refused: "no access"};

const EXPLAINED = {
  opening: "The page asks the server for its first figures",
  stale: "The server has not answered for 10s: figures and ages stand still",
  cut: "The server cannot be reached: the page keeps trying",
  refused: "The server does not accept this page's token: open the address that `paddock web` printed",
};

export function TopBar() {
  return html`<header class="top">
    ${root ? html`<span class="brand"><${Brand} /><${Switch} /></span>` : html`<${Brand}><${OwnName} /></${Brand}>`}
    <nav class="nav" aria-label="Pages">
      ${PAGES.map(([path, name, words]) => html`<${PageLink} path=${path} name=${name} words=${words} />`)}</nav>
    <button type="button" class="find" onClick=${() => openPalette()} aria-label="Find or do anything">
      <${Icon} name="search" /><span>Find or do anything</span><kbd>Ctrl K</kbd></button>
    <${Truth} />
  </header><${LogTrouble} />`;
}

/** To the first page of the server. */
export function Brand({children}) {
  return html`<a class="brand" href="/"><svg class="mark" viewBox="0 0 22 22" aria-hidden="true">
    <path d="M3 18V7.5L11 3l8 4.5V18M3 11h16M3 15h16M11 3v15" fill="none" stroke="currentColor" stroke-width="1.6"
      stroke-linejoin="round" stroke-linecap="round"/></svg>Paddock${children}</a>`;
}

function OwnName() {
  const repo = documentOf("board").field("repo").value ?? session.value?.repo;
  return repo && html`<span class="repo">/ ${repo}</span>`;
}

/** Where the server shows several repositories: which one this is, and the way to the others. */
function Switch() {
  return html`<span class="own">/ <button type="button" class="b bare switch" aria-haspopup="dialog"
    aria-label=${`Repository ${ownName}: switch to another`} onClick=${() => openRepositories()}>${ownName}
    <${Icon} name="chev" /></button></span>`;
}

/** What the page shows is of before. It goes on by itself when the log is back. */
export function LogTrouble() {
  const {log, log_hint: hint} = pulse.value;
  if (state.value === "refused") return html`<p class="trouble" role="alert"><${State} of="failed" words="No access" />
    <span><${Words} text=${EXPLAINED.refused} /></span></p>`;
  if (!log || state.value !== "live") return null;
  return html`<p class="trouble" role="alert"><${State} of="failed" words="The log cannot be read" />
    <span><${Words} text=${log} />. Figures stand still until it can be read again.
      ${hint && html` <${Words} text=${hint} />`}</span></p>`;
}

function PageLink({path, name, words}) {
  const here = (PART_OF[route.value.name] ?? route.value.name) === name;
  return html`<a href=${at(path)} aria-current=${here ? "page" : null}><${Icon} name=${name} />${words}${
    name === "board" && html`<${NeedsTally} />`}</a>`;
}

function NeedsTally() {
  const needs = documentOf("board").field("needs").value ?? [];
  const notices = documentOf("board").field("notices").value ?? [];
  const count = needs.length + notices.length;
  return count ? html`<span class="tally" title="need you">${count}<span class="hide"> need you</span></span>` : null;
}

/** The worst that is true comes first: no access, no stream, no daemon; else how main is. */
export function Truth() {
  const link = state.value;
  const {daemon, seq, log} = pulse.value;
  if (link !== "live") {
    const of = link === "opening" ? "waiting" : "blocked";
    return html`<span class="pulse" role="status" title=${EXPLAINED[link]}><${State} of=${of} words=${UNTRUE[link]} />
      </span>`;
  }
  if (log) return html`<span class="pulse" role="status" title=${log}><${State} of="failed" words="log unreadable" />
    </span>`;
  if (daemon && daemon !== "running") {
    const words = daemon === "silent" ? "daemon silent" : "daemon down";
    return html`<span class="pulse" role="status" title=${`log at event ${grouped(seq)}`}>
      <${State} of="blocked" words=${words} /></span>`;
  }
  return html`<span class="pulse" role="status" title=${`daemon running, log at event ${grouped(seq)}`}><${MainState} />
    </span>`;
}

const MAIN = {green: "landed", untested: "waiting", red: "failed", unknown: "waiting"};

function MainState() {
  const main = documentOf("board").field("main").value;
  const branch = documentOf("board").field("branch").value ?? "main";
  if (!main) return html`<${Mark} of="landed" words="live" /><span>live</span>`;
  const told = main.state === "unknown" ? "not tested yet" : main.state;
  return html`<${Mark} of=${MAIN[main.state] ?? "waiting"} words=${told} /><span>${branch} ${told}${
    main.since && html`<span class="long" aria-hidden="true"> · <${Ago} at=${main.since} /></span>`}</span>`;
}

function Ago({at}) {
  return html`${age(at)} ago`;
}
