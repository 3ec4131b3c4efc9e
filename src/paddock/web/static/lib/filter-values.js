// What a field of a filter is compared with: read and checked as `core/filter/values.py` does it.

import {FilterMistake} from "./filter-scanner.js";

const UNITS = {ms: 0.001, s: 1, m: 60, h: 3600, d: 86400};
const LONGEST_SECONDS = 366 * 86400;
const RANGE = /^t([1-9]\d{0,8})(?:-|\.\.)t?([1-9]\d{0,8})$/;
const TASK = /^t([1-9]\d{0,8})(?:\.[1-9]\d{0,5})?$/;

/** Whether a word without a field names tasks. */
export function looksLikeIds(word) {
  const text = word.text.toLowerCase();
  return !word.isQuoted && (TASK.test(text) || RANGE.test(text));
}

export function readPattern(word) {
  return {text: word.text, isWild: !word.isQuoted && /[*?]/.test(word.text)};
}

/** A pattern, a span of ids or an amount. Throws FilterMistake at the word. */
export function readValue(field, word) {
  const pattern = readPattern(word);
  if (!word.text) {
    if (field.lacks) return pattern;
    throw new FilterMistake(`every task has ${/^[aeiou]/.test(field.name) ? "an" : "a"} ${field.name}`, word);
  }
  if (field.kind === "choice") checkChoice(field, pattern, word);
  if (field.kind === "ids") return pattern.isWild ? pattern : readIds(word);
  if (field.kind === "duration") return {amount: readDuration(word)};
  if (field.kind === "money") return {amount: readMoney(word)};
  if (field.kind === "number") return {amount: readWhole(field, word)};
  return pattern;
}

export function readIds(word) {
  const text = word.text.trim().toLowerCase();
  const range = RANGE.exec(text);
  const task = TASK.exec(text);
  if (!range && !task) throw new FilterMistake(`\`${cut(word.text)}\` is not a task id`, word, "such as t41, t3-t9");
  const [first, last] = range ? [Number(range[1]), Number(range[2])] : [Number(task[1]), Number(task[1])];
  if (first <= last) return {first, last};
  throw new FilterMistake(`\`${cut(word.text)}\` is not a range: t${first} comes after t${last}`, word,
    `write t${last}-t${first}`);
}

function checkChoice(field, pattern, word) {
  const wanted = pattern.text.toLowerCase();
  if (field.choices.includes(wanted)) return;
  if (pattern.isWild && field.choices.some((choice) => matchesGlob(wanted, choice))) return;
  const said = cut(pattern.text);
  const problem = pattern.isWild ? `no ${field.name} matches \`${said}\`` : `there is no ${field.name} \`${said}\``;
  throw new FilterMistake(problem, word, `${field.name} is one of ${field.choices.join(", ")}`);
}

function readDuration(word) {
  const text = word.text.trim().toLowerCase().replaceAll(" ", "");
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) {
    throw new FilterMistake(
      `\`${cut(word.text)}\` is not a duration; write it like \`90s\`, \`10m\` or \`1h30m\``, word);
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const seconds = parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit], 0);
  if (seconds > LONGEST_SECONDS) throw new FilterMistake(`\`${cut(word.text)}\` is longer than a year`, word);
  return Math.round(seconds * 1000) / 1000;
}

function readMoney(word) {
  const found = /^\$?(\d{1,9}(?:\.\d{1,6})?)$/.exec(word.text);
  if (found) return Number(found[1]);
  throw new FilterMistake(`\`${cut(word.text)}\` is not an amount of dollars`, word, "write it like 1.50 or $2");
}

function readWhole(field, word) {
  if (/^-?\d{1,9}$/.test(word.text)) return Number(word.text);
  throw new FilterMistake(`\`${cut(word.text)}\` is not a whole number`, word, `write it like ${field.example}`);
}

/** Whether the whole text fits, where `*` is any text and `?` any character; no pattern takes long. */
export function matchesGlob(pattern, text) {
  const letters = [...text];
  const [first, ...others] = pattern.split("*").map((part) => [...part]);
  if (!others.length) return first.length === letters.length && fits(first, letters, 0);
  const last = others.pop();
  const end = letters.length - last.length;
  if (end < first.length || !fits(first, letters, 0) || !fits(last, letters, end)) return false;
  let at = first.length;
  for (const part of others) {
    while (at + part.length <= end && !fits(part, letters, at)) at += 1;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return true;
}

function fits(part, letters, at) {
  return part.every((mark, index) => mark === "?" || mark === letters[at + index]);
}

export function cut(text) {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
