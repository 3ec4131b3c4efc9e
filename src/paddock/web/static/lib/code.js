// The lines of a change as pieces of text with a class each: syntax by Prism's tokens, differences by words. Pure.

import {diffWordsWithSpace} from "../vendor/diff.js";
import Prism from "../vendor/prism.js";

const LANGUAGES = {
  py: "python", pyi: "python", js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "jsx", ts: "typescript",
    tsx: "tsx",
  json: "json", toml: "toml", yml: "yaml", yaml: "yaml", md: "markdown", rs: "rust", go: "go", c: "c", h: "c",
    cc: "cpp", cpp: "cpp", hpp: "cpp",
  java: "java", kt: "kotlin", rb: "ruby", php: "php", sh: "bash", bash: "bash", zsh: "bash", css: "css", html: "markup",
    xml: "markup", svg: "markup",
  sql: "sql", ini: "ini", cfg: "ini", mk: "makefile", swift: "swift", cs: "csharp", scala: "scala", lua: "lua",
    diff: "diff", patch: "diff",
};
const CLASSES = {
  keyword: "kw", boolean: "kw", builtin: "kw", important: "kw", atrule: "kw", tag: "kw", decorator: "kw",
    selector: "kw",
  string: "sx", "template-string": "sx", "triple-quoted-string": "sx", char: "sx", regex: "sx", "attr-value": "sx",
    url: "sx", "string-interpolation": "sx",
  comment: "cm", prolog: "cm", doctype: "cm", cdata: "cm", shebang: "cm",
};
const MOST_CHARS = 40_000;
const MOST_LINE_CHARS = 1_000;
const LEAST_ALIKE = 0.35;

export function languageOf(path) {
  const name = path.split("/").at(-1).replace(/"$/, "").toLowerCase();
  if (name === "makefile") return Prism.languages.makefile;
  return Prism.languages[LANGUAGES[name.split(".").at(-1)]] ?? null;
}

/** Pieces of every line of a hunk, by its index: `{text, kind, marked}`. */
export function piecesOf(hunk, grammar) {
  const pieces = hunk.lines.map((line) => [{text: line.t, kind: "", marked: false}]);
  if (grammar) {
    for (const side of ["-", "+"]) colourSide(hunk.lines, side, grammar, pieces);
  }
  for (const [old, fresh] of pairsOf(hunk.lines)) markWords(hunk.lines, old, fresh, pieces);
  return pieces;
}

/** One side of the hunk as one text, so that a string over several lines is one. */
function colourSide(lines, side, grammar, pieces) {
  const shown = lines.flatMap((line, index) => (line.k === side || line.k === " " ? [index] : []));
  const text = shown.map((index) => lines[index].t).join("\n");
  if (text.length > MOST_CHARS) return;
  const byLine = splitLines(flatten(Prism.tokenize(text, grammar)));
  shown.forEach((index, at) => { if (byLine[at]?.length) pieces[index] = byLine[at]; });
}

function flatten(tokens, kind = "") {
  return tokens.flatMap((token) => {
    if (typeof token === "string") return [{text: token, kind, marked: false}];
    const own = CLASSES[token.type] ?? CLASSES[[token.alias].flat()[0]] ?? kind;
    return flatten(Array.isArray(token.content) ? token.content : [token.content], own);
  });
}

function splitLines(pieces) {
  const lines = [[]];
  for (const piece of pieces) {
    piece.text.split("\n").forEach((text, index) => {
      if (index) lines.push([]);
      if (text) lines.at(-1).push({...piece, text});
    });
  }
  return lines;
}

/** Lines that replace each other: a run of removed ones followed by as many added ones, one by one. */
export function pairsOf(lines) {
  const pairs = [];
  let at = 0;
  while (at < lines.length) {
    const removed = runOf(lines, at, "-");
    const added = runOf(lines, at + removed, "+");
    for (let step = 0; step < Math.min(removed, added); step += 1) pairs.push([at + step, at + removed + step]);
    at += Math.max(1, removed + added);
  }
  return pairs;
}

function runOf(lines, from, sign) {
  let count = 0;
  while (lines[from + count]?.k === sign) count += 1;
  return count;
}

function markWords(lines, old, fresh, pieces) {
  const [before, after] = [lines[old].t, lines[fresh].t];
  if (before.length > MOST_LINE_CHARS || after.length > MOST_LINE_CHARS) return;
  const parts = diffWordsWithSpace(before, after);
  const kept = parts.filter((part) => !part.added
    && !part.removed).reduce((sum, part) => sum + part.value.trim().length, 0);
  // Marks on lines that have nothing in common say nothing.
  if (kept < LEAST_ALIKE * Math.max(before.trim().length, after.trim().length)) return;
  pieces[old] = withMarks(pieces[old], parts.filter((part) => !part.added), "removed");
  pieces[fresh] = withMarks(pieces[fresh], parts.filter((part) => !part.removed), "added");
}

/** Cuts the pieces where the marks begin and end. */
function withMarks(pieces, parts, mark) {
  const out = [];
  const left = pieces.map((piece) => ({...piece}));
  for (const part of parts) {
    let wanted = part.value.length;
    while (wanted > 0 && left.length) {
      const text = left[0].text.slice(0, wanted);
      out.push({...left[0], text, marked: Boolean(part[mark])});
      left[0].text = left[0].text.slice(text.length);
      wanted -= text.length;
      if (!left[0].text) left.shift();
    }
  }
  return [...out, ...left];
}
