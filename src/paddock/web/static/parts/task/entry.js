// One entry of a transcript. What agents write becomes text nodes and nothing else.

import {Fragment, html, useState} from "../../lib/ui.js";
import {bytes, grouped, money, plural, timeWithSeconds} from "../../lib/format.js";
import {Age} from "../age.js";
import {Icon} from "../badge.js";

const TEXT_CHARS = 20_000;
const OUTPUT_CHARS = 20_000;
const LINE_CHARS = 400;
/** The last line of many says how it went. */
const SUMMARY = /\b(\d+ (errors?|warnings?|tests?|files?)|pass(ed)?|ok|fail(ed|ures?)?|success\w*|done|clean)\b/i;
const ICONS = [
  [/read|view|cat|open/i, "read"],
  [/edit|write|patch|replace|create|apply/i, "edit"],
  [/grep|search|glob|find|web/i, "search"],
];

export function Entry({entry, isLive = false}) {
  switch (entry.type) {
    case "text":
      return html`<div class="msg words" title=${entry.at ? timeWithSeconds(entry.at) : null}>
        <${Prose} text=${entry.text} /></div>`;
    case "call":
      return html`<${Call} entry=${entry} isLive=${isLive} />`;
    case "result":
      return html`<${Call} entry=${{tool: "", argument: "result", edits: [], result: entry}} />`;
    case "edit":
      return html`<${Call} entry=${{tool: "edit", argument: entry.path, edits: [entry], result: null}} />`;
    case "error":
      return html`<div class="msg words bad">${cut(entry.message, TEXT_CHARS)}</div>`;
    case "limited":
      return html`<div class="msg words late">${`${(entry.kind ?? "").replace("_", " ")}: ${entry.message ?? ""}`}
        </div>`;
    case "usage":
      return html`<div class="turn">${usage(entry.tokens)}</div>`;
    case "uncounted":
      return entry.why ? html`<div class="turn">tokens unknown: ${entry.why}</div>` : null;
    case "session":
      return html`<div class="turn" title=${cut(entry.session_id, 80)}>session ${entry.session_id.slice(0, 8)}
        ${entry.model ? ` · ${entry.model}` : ""}</div>`;
    case "end":
      return html`<div class="turn">${entry.success ? "done" : "failed"}
        ${entry.reason && entry.reason !== "completed" ? `: ${cut(entry.reason, 200)}` : ""}</div>`;
    default:
      return null;
  }
}

/** What a turn began with. */
export function Opening({opening}) {
  return opening.said.map((one, index) => {
    if (one.what !== "task") return html`<div class="msg from words" key=${index}><small>${one.what} from ${one.by}
      </small><${Prose} text=${one.text} /></div>`;
    return html`<${Folded} key=${index} icon="read" words=${`brief from ${one.by}`}
      note=${bytes(new Blob([one.text]).size)}
      content=${() => cut(one.text, TEXT_CHARS)} />`;
  });
}

function Call({entry, isLive = false}) {
  const {tool = "", argument = "", edits, result} = entry;
  const words = argument.split(/\s+/).filter(Boolean).join(" ") || tool;
  return html`<${Folded} icon=${iconOf(tool, argument)} words=${cut(words, LINE_CHARS)} title=${tool}
    note=${noteOf(entry, isLive)}
    isBad=${Boolean(result && result.status !== "ok")}
      content=${() => html`<${CallBody} edits=${edits} argument=${argument} result=${result} />`} />`;
}

/** What is folded is not there at all. */
function Folded({icon, words, title = null, note, isBad = false, content}) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="tool" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary title=${title}><${Icon} name="chev" /><${Icon} name=${icon} /><span class="cut isolate">${words}</span>
      <span class=${isBad ? "bad" : "dim"}>${note}</span></summary>
    ${isOpen && html`<pre tabindex="0">${content()}</pre>`}
  </details>`;
}

function CallBody({edits, argument, result}) {
  const isLong = argument.length > 80 || argument.includes("\n");
  return html`<${Fragment}>
    ${isLong && html`<span class="dim">${cut(argument, OUTPUT_CHARS)}${"\n"}</span>`}
    ${edits.map((edit, index) => html`<${Fragment} key=${index}>
      ${edit.diff.split("\n").map((line, at) => html`
      <span key=${at} class=${line[0] === "+" ? "ok" : line[0] === "-" ? "x" : null}>${cut(line, LINE_CHARS)}${"\n"}
      </span>`)}</${Fragment}>`)}
    ${result && cut(result.output ?? "", OUTPUT_CHARS)}
    ${!result && !edits.length && html`<span class="dim">no answer yet</span>`}
  </${Fragment}>`;
}

function noteOf({edits, result, at}, isLive) {
  if (edits.length) return edited(edits);
  if (!result) return isLive && at ? html`running, <${Age} at=${at} />` : "";
  const lines = (result.output ?? "").trimEnd().split("\n").filter((line) => line.trim());
  if (result.status !== "ok") return result.exit_code != null ? `exit ${result.exit_code}` : result.status;
  if (!lines.length) return "ok";
  const last = lines.at(-1).trim();
  const tells = lines.length === 1 || SUMMARY.test(last);
  return tells && last.length <= 34 ? last : plural(lines.length, "line");
}

function edited(edits) {
  const lines = edits.flatMap((edit) => edit.diff.split("\n"));
  const count = (sign) => lines.filter((line) => line.startsWith(sign)).length;
  const [plus, minus] = [count("+"), count("-")];
  return [plus && `+${plus}`, minus && `−${minus}`].filter(Boolean).join(" ") || "edited";
}

function iconOf(tool, argument) {
  if (/\b(pytest|test|jest|cargo test|go test|tox)\b/.test(argument)) return "test";
  return ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? "term";
}

function usage(tokens = {}) {
  const read = (tokens.input_uncached ?? 0) + (tokens.cache_write ?? 0) + (tokens.cache_read ?? 0);
  const cost = tokens.cost_usd != null ? ` · ${money(tokens.cost_usd)}` : "";
  return `${grouped(read)} tokens in, ${grouped(tokens.output ?? 0)} out${cost}`;
}

/** Code between backticks and fences; nothing else of Markdown, and never markup. */
function Prose({text}) {
  return cut(text, TEXT_CHARS).split("```").map((part, index) => {
    if (index % 2) return html`<pre class="code">${part.replace(/^[\w+-]*\n/, "").trimEnd()}</pre>`;
    return part.split("`").map((piece, at) => (at % 2 ? html`<code>${piece}</code>` : piece));
  });
}

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)} … (${bytes(text.length)})`;
}
