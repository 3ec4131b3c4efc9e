// The lines of one file of a change. Far from the window they are an empty box of their height.

import {html, useEffect, useMemo, useRef, useState} from "../../lib/ui.js";
import {languageOf, pairsOf, piecesOf} from "../../lib/code.js";
import {placeOf} from "../../lib/comment-drafts.js";

const CHUNK = 120;
const ALL_AT_ONCE = 240;
const LINE_PIXELS = 20;
const SIGNS = {"+": "+", "-": "−", " ": " ", "\\": " "};
const SHADES = {"+": "a", "-": "x", " ": "", "\\": "h"};

/** `marks` decides about a line: `{isCurrent, note}`. */
export function FileLines({file, split, marks, choose}) {
  const rows = useMemo(() => (split ? splitRows(file) : unifiedRows(file)), [file, split]);
  const chunks = useMemo(() => chunksOf(rows), [rows]);
  const every = rows.length <= ALL_AT_ONCE;
  return html`<div class=${`diff${split ? " split" : ""}`} tabindex="0" role="group"
    aria-label=${`Lines of ${file.path}`}>
    ${chunks.map((chunk, index) => html`
      <${Chunk} key=${index} rows=${chunk} every=${every} split=${split} path=${file.path} marks=${marks}
      choose=${choose} />`)}
  </div>`;
}

function Chunk({rows, every, split, path, marks, choose}) {
  const box = useRef(null);
  const [near, setNear] = useState(every);
  const drawn = rows.map((row) => ({row, ...marks(placesOf(row, path))}));
  const held = drawn.some(({notes, isCurrent}) => notes.length || isCurrent);
  useEffect(() => {
    if (every) return undefined;
    const watcher = new IntersectionObserver(([seen]) => setNear(seen.isIntersecting), {rootMargin: "1200px 0px"});
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [every]);
  const latest = useRef(choose);
  latest.current = choose;
  const isThere = near || held || every;
  const still = useRef({});
  if (held || still.current.rows !== rows || still.current.isThere !== isThere) {
    const Row = split ? SplitRow : UnifiedRow;
    const act = (...told) => latest.current(...told);
    const content = isThere
      ? drawn.map(({row, notes, isCurrent}) => html`
        <${Row} key=${row.key} row=${row} path=${path} isCurrent=${isCurrent || notes.length > 0} choose=${act} />
        ${notes}`)
      : html`<div style=${{height: `${rows.length * LINE_PIXELS}px`}}></div>`;
    still.current = {rows: held ? null : rows, isThere, content};
  }
  return html`<div ref=${box} class="chunk">${still.current.content}</div>`;
}

function UnifiedRow({row, path, isCurrent, choose}) {
  const {line} = row;
  if (row.header) return html`<div class="d h"><span></span><span></span><span></span><span>${row.header}</span></div>`;
  const place = placesOf(row, path)[0];
  return html`<div class=${`d ${SHADES[line.k]}${isCurrent ? " t" : ""}`} data-place=${place}
    onClick=${(event) => place && choose(event, row, path)}>
    <span>${line.old}</span><span>${line.new}</span><span>${SIGNS[line.k]}</span><span>
      <${Pieces} pieces=${row.pieces} /></span></div>`;
}

function SplitRow({row, path, isCurrent, choose}) {
  if (row.header) return html`<div class="d h"><span></span><span>${row.header}</span><span></span><span></span></div>`;
  const side = (cell, number) => html`<span class=${cell ? "" : "none"}>${cell?.line[number]}</span>
    <span class=${cell ? SHADES[cell.line.k] : "none"} data-side=${number}>
      ${cell && html`<${Pieces} pieces=${cell.pieces} />`}</span>`;
  const place = placesOf(row, path).at(-1);
  return html`<div class=${`d${isCurrent ? " t" : ""}`} data-place=${place}
    onClick=${(event) => place && choose(event, row, path)}>
    ${side(row.left, "old")}${side(row.right, "new")}</div>`;
}

/** Pieces in a row that differ are marked as one. */
function Pieces({pieces}) {
  const runs = [];
  for (const {text, kind, marked} of pieces) {
    if (runs.at(-1)?.marked !== marked) runs.push({marked, shown: []});
    runs.at(-1).shown.push(kind ? html`<span class=${kind}>${text}</span>` : text);
  }
  return runs.map(({marked, shown}) => (marked ? html`<mark>${shown}</mark>` : shown));
}

/** The places that comments on a row may have: old and new side. */
export function placesOf(row, path) {
  const found = [row.left?.line ?? row.line, row.right?.line ?? row.line].flatMap((line) => {
    if (!line || line.k === "\\") return [];
    return [line.new == null ? {path, side: "old", line: line.old} : {path, side: "new", line: line.new}];
  });
  return [...new Set(found.map(placeOf))];
}

/** What a click on a row is about: the side that was clicked, else the new one. */
export function pointOf(event, row, path) {
  const wantsOld = event?.target?.closest?.("[data-side]")?.dataset.side === "old" && row.left;
  const line = row.line ?? (wantsOld || !row.right ? row.left : row.right).line;
  const side = line.new == null ? "old" : "new";
  return {path, side, line: line[side], quote: line.t};
}

export function unifiedRows(file) {
  return file.hunks.flatMap((hunk, number) => {
    const at = cellsOf(hunk, file.path);
    const lines = hunk.lines.map((_line, index) => Object.assign(at(index), {key: `${number}.${index}`}));
    return [{key: `${number}`, header: hunk.header}, ...lines];
  });
}

/** Old lines beside the new ones that replace them. */
export function splitRows(file) {
  return file.hunks.flatMap((hunk, number) => {
    const at = cellsOf(hunk, file.path);
    const rows = [{key: `${number}`, header: hunk.header}];
    const partner = new Map(pairsOf(hunk.lines));
    const taken = new Set(partner.values());
    hunk.lines.forEach((line, index) => {
      const key = `${number}.${index}`;
      if (line.k === " ") rows.push({key, left: at(index), right: at(index)});
      else if (line.k === "-") rows.push({key, left: at(index), right: partner.has(index) ? at(partner.get(index))
        : undefined});
      else if (line.k === "+" && !taken.has(index)) rows.push({key, left: undefined, right: at(index)});
    });
    return rows;
  });
}

/** Colours and words of a hunk are worked out when the first of its lines is drawn. */
function cellsOf(hunk, path) {
  let pieces = null;
  return (index) => ({
    line: hunk.lines[index],
    get pieces() {
      pieces ??= piecesOf(hunk, languageOf(path));
      return pieces[index];
    },
  });
}

function chunksOf(rows) {
  const chunks = [];
  for (let at = 0; at < rows.length; at += CHUNK) chunks.push(rows.slice(at, at + CHUNK));
  return chunks;
}
