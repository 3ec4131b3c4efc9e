// Filters over the board's rows: `phase=blocked and agent=fixer`, words, -word. docs/reference/filter.md has all of it;
// `core/filter` does the same on the server, and tests hold the two against each other.

import {SEARCHED, isAmount, numberOf, wordsOf} from "./filter-fields.js";
import {parseFilter} from "./filter-parser.js";
import {FilterMistake} from "./filter-scanner.js";
import {matchesGlob} from "./filter-values.js";

const COMPARED = {
  "=": (one, other) => one === other, "!=": (one, other) => one === other,
  "<": (one, other) => one < other, "<=": (one, other) => one <= other,
  ">": (one, other) => one > other, ">=": (one, other) => one >= other,
};

/**
 * `test` is a function of a row and of the time in milliseconds, null for a filter that everything matches; `mistake`
 * is what is wrong, null if nothing. `ages`: what it finds changes with time alone.
 */
export function filterOf(text) {
  try {
    const tree = parseFilter(text);
    const isEmpty = tree.all?.length === 0;
    return {test: isEmpty ? null : testOf(tree), mistake: null, ages: looksAtAges(tree)};
  } catch (error) {
    if (!(error instanceof FilterMistake)) throw error;
    return {test: null, mistake: error, ages: false};
  }
}

function looksAtAges(tree) {
  const parts = tree.all ?? tree.any ?? (tree.not ? [tree.not] : []);
  return tree.field?.kind === "duration" || parts.some(looksAtAges);
}

function testOf(tree) {
  if (tree.all) return every(tree.all.map(testOf));
  if (tree.any) return some(tree.any.map(testOf));
  if (tree.not) return negated(testOf(tree.not));
  if (tree.words) return searchTest(tree.words);
  const test = isAmount(tree.field) ? amountTest(tree) : wordTest(tree);
  return tree.operator === "!=" ? negated(test) : test;
}

const every = (tests) => (row, now) => tests.every((test) => test(row, now));
const some = (tests) => (row, now) => tests.some((test) => test(row, now));
const negated = (test) => (row, now) => !test(row, now);

function searchTest(words) {
  const tests = words.map(contains);
  return (row) => SEARCHED.some((name) => wordsOf(row, name).some((value) => tests.some((test) => test(value))));
}

function contains({text, isWild}) {
  const wanted = text.toLowerCase();
  return isWild ? (value) => matchesGlob(`*${wanted}*`, value) : (value) => value.includes(wanted);
}

function amountTest({field, operator, values}) {
  const compare = COMPARED[operator];
  const amounts = values.filter((value) => value.amount !== undefined).map((value) => value.amount);
  return (row, now) => {
    const number = numberOf(row, field.name, now);
    return number === null ? amounts.length < values.length : amounts.some((amount) => compare(number, amount));
  };
}

function wordTest({field, operator, values}) {
  const lacks = values.some((value) => value.text === "");
  const tests = values.map((value) => fitTest(field, operator, value));
  return (row) => {
    const words = wordsOf(row, field.name);
    return words.length ? words.some((word) => tests.some((test) => test(word))) : lacks;
  };
}

function fitTest(field, operator, value) {
  if (value.first !== undefined) {
    const numberIn = (name) => Number(name.slice(1));
    if (operator !== "=" && operator !== "!=") return (name) => COMPARED[operator](numberIn(name), value.first);
    return (name) => value.first <= numberIn(name) && numberIn(name) <= value.last;
  }
  if (field.kind === "text" && !value.isWild && value.text) return contains(value);
  const wanted = value.text.toLowerCase();
  return value.isWild ? (word) => matchesGlob(wanted, word) : (word) => word === wanted;
}
