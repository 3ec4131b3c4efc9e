// What reviewers and checks hold against a change, in full, and what a person may decide about it.

import {Fragment, html} from "../../lib/ui.js";
import {request} from "../../lib/requests.js";
import {taskPath} from "../../lib/route.js";
import {session} from "../../lib/session.js";
import {isCutOff} from "../../lib/stream.js";
import {askForText} from "../ask.js";
import {Icon} from "../badge.js";

const GRAVITY = {error: 0, warning: 1, note: 2};
/** The colour, the icon and the word of a finding that has ended. */
const ENDS = {
  fixed: ["landed", "landed", "fixed"],
  refuted: ["cancelled", "cancelled", "refuted"],
  waived: ["approval", "check", "waived"],
  outvoted: ["cancelled", "cancelled", "outvoted"],
};
const OPEN = {error: ["failed", "failed"], warning: ["blocked", "blocked"], note: ["plain", "msg"]};

/** All of them: what blocks first, then what is open, the gravest first; what has ended last. */
export function findingsOf(page) {
  const rank = (one) => [Number(!blocks(one)), Number(one.status !== "open"), GRAVITY[one.severity], numberOf(one)];
  return [...page.findings.values()].map((row) => row.value).sort((one, other) => {
    const [mine, theirs] = [rank(one), rank(other)];
    const at = mine.findIndex((value, index) => value !== theirs[index]);
    return at < 0 ? 0 : mine[at] - theirs[at];
  });
}

/** `goTo` shows the line of a finding in the change, where there is one. */
export function Findings({page, changes, goTo = null}) {
  changes.value;
  const findings = findingsOf(page);
  if (!findings.length) return null;
  return html`<section class="panel findings" aria-label="Findings" id="findings"><header><h2>Findings</h2>
    <span class="end">${summaryOf(findings)}</span></header>
    <div class="in">${page.task.role === "review" && html`<${Summary} page=${page} />`}
      <ul>${findings.map((one) => html`
      <${Finding} key=${one.id} finding=${one} versions=${page.versions} goTo=${goTo} />`)}</ul></div></section>`;
}

/** What the reviewer of code that is there says of it as a whole. */
function Summary({page}) {
  const said = [...page.verdicts.values()].map((row) => row.value).sort((one, other) => one.seq - other.seq).at(-1);
  return said?.summary ? html`<p class="words soft summed">${said.summary}</p>` : null;
}

function Finding({finding, versions, goTo}) {
  const {id, claim, path} = finding;
  const place = placeOf(finding);
  return html`<li class="finding" data-finding=${id}>
    <div class="l"><${FindingChip} finding=${finding} /> <b class="strong">${id}</b>
      ${path && html`<span class="end cut">${goTo
        ? html`<button type="button" class="link" title=${place} onClick=${() => goTo(finding)}>${shortOf(place)}
          </button>`
        : html`<span class="dim" title=${place}>${place}</span>`}</span>`}</div>
    <p class="words">${claim}</p>
    <p class="dim isolate">${aboutOf(finding, versions)}${finding.routed && html`<${Fragment}>, now
      ${" "}<a href=${taskPath(finding.routed)}>${finding.routed}</a></${Fragment}>`}</p>
    <${Grounds} finding=${finding} />
    <${Decisions} finding=${finding} />
  </li>`;
}

/** Its words, below a line of the change; `isApart` where that line is not shown. */
export function FindingNote({finding, versions, isApart = false}) {
  const where = isApart && finding.line ? `, line ${finding.line}` : "";
  return html`<div class=${`note${isApart ? " apart" : ""}`} data-comment data-finding-note=${finding.id}>
    <div class="by"><${FindingChip} finding=${finding} /><b class="strong">${finding.id}</b>
      <span class="cut">${finding.by.join(", ")}</span>
      <span class="end">${versionOf(versions, finding.head)}${where}, round ${finding.round}</span></div>
    <p class="words">${finding.claim}</p>
    <${Grounds} finding=${finding} />
    <div class="foot"><${Decisions} finding=${finding} /></div></div>`;
}

function FindingChip({finding}) {
  const [state, icon] = finding.status === "open" ? OPEN[finding.severity] : ENDS[finding.status];
  const words = finding.status !== "open" ? finding.status : blocks(finding) ? `blocking ${finding.severity}`
    : finding.severity;
  return html`<span class=${`chip c ${state}`}><${Icon} name=${icon} />${words}</span>`;
}

/** How it is known and what is suggested, folded: the claim should do. */
function Grounds({finding}) {
  const {evidence, suggestion, dispute, disputed, rule, settled_by: who, settled_why: why} = finding;
  const parts = [["evidence", evidence], ["suggestion", suggestion],
    ["its worker disputes it", dispute || (disputed && finding.status === "open" && "without a reason")],
    [`${finding.status} by ${who}`, who && why]].filter(([, text]) => text);
  if (!parts.length && !rule) return null;
  return html`<details class="grounds"><summary><${Icon} name="chev" />
    ${parts.map(([name]) => name).join(", ") || "rule"}</summary>
    ${rule && html`<p class="dim">rule <code>${rule}</code></p>`}
    ${parts.map(([name, text]) => html`<${Fragment} key=${name}><p class="dim">${name}</p>
      <pre class="raw small">${text}</pre></${Fragment}>`)}</details>`;
}

function Decisions({finding}) {
  if (session.value?.read_only) return null;
  const {id, status, routed, confirmed} = finding;
  const off = isCutOff() ? "true" : null;
  const may = [status === "open" && ["Waive", waive], !confirmed.includes("person") && ["Confirm", confirm],
    status === "open" && !routed && ["File as task", file]].filter(Boolean);
  if (!may.length) return null;
  return html`<span class="acts">${may.map(([words, run]) => html`
    <button type="button" key=${words} class="b small" aria-disabled=${off} aria-label=${`${words} ${id}`}
      onClick=${() => { if (!off) run(id); }}>${words}</button>`)}</span>`;
}

async function waive(id) {
  const message = await askForText({title: `Waive ${id}`, send: "Waive", isRequired: true,
    label: "Why does it not count? It holds nothing up any more, and is not brought up again"});
  if (message !== null) await decide("waive", id, message, `${id} waived`);
}

async function confirm(id) {
  const message = await askForText({title: `Confirm ${id}`, send: "Confirm",
    label: "How do you know that it is true? That counts for whoever found it"});
  if (message !== null) await decide("confirm", id, message, `${id} confirmed`);
}

function decide(what, id, message, done) {
  return request(`findings/${what}`, {findings: [id], message}, {done, about: id});
}

function file(id) {
  return request("findings/file", {findings: [id]}, {done: `${id} became a task`, about: id});
}

export function blocks({blocking, status}) {
  return blocking && status === "open";
}

export function placeOf({path, line}) {
  return path && line ? `${path}:${line}` : path;
}

/** The end of a path tells more than its beginning. */
function shortOf(place) {
  return place.split("/").at(-1);
}

export function versionOf(versions, head) {
  const known = versions.find((one) => one.head === head);
  return known ? `v${known.version}` : head.slice(0, 10);
}

function numberOf({id}) {
  return Number(id.slice(1));
}

function aboutOf(finding, versions) {
  const seen = versions.length ? ` on ${versionOf(versions, finding.head)}` : "";
  const parts = [`${finding.by.join(", ")}${seen}, round ${finding.round}`];
  if (finding.status !== "open" && finding.settled_by) parts.push(`${finding.status} by ${finding.settled_by}`);
  if (finding.status === "open" && finding.disputed) parts.push("disputed");
  if (finding.confirmed.length) parts.push(`confirmed by ${finding.confirmed.join(", ")}`);
  return parts.join(" · ");
}

function summaryOf(findings) {
  const open = findings.filter((one) => one.status === "open");
  const blocking = open.filter(blocks).length;
  const settled = findings.length - open.length;
  return [open.length ? `${open.length} open` : "",
    blocking ? `${blocking} blocking` : "", settled ? `${settled} settled` : ""].filter(Boolean).join(", ");
}
