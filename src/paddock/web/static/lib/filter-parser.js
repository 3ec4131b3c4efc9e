// The one filter language: text in, a tree out. `core/filter/parser.py` has its grammar and says the same of any text.

import {FIELDS, hasOrder} from "./filter-fields.js";
import {BLANKS, FilterMistake, Scanner} from "./filter-scanner.js";
import {cut, looksLikeIds, readIds, readPattern, readValue} from "./filter-values.js";

export const MOST_CHARACTERS = 2000;
const MOST_DEPTH = 40;
const KEYWORDS = ["and", "or", "not"];
const OTHER_LANGUAGES = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"};
const ORDERS = ["<", "<=", ">", ">="];

/** A tree of `{all}`, `{any}`, `{not}`, `{field, operator, values}` and `{words}`. Throws FilterMistake. */
export function parseFilter(text) {
  if (text.length > MOST_CHARACTERS) {
    const spot = {start: MOST_CHARACTERS, end: MOST_CHARACTERS + 1};
    throw new FilterMistake("the filter is too long", spot);
  }
  return new Parser(text).parse();
}

class Parser {
  constructor(text) {
    this.scanner = new Scanner(text);
    this.before = "";
  }

  parse() {
    this.scanner.skipBlanks();
    if (!this.scanner.here) return {all: []};
    const tree = this.either(0);
    if (this.scanner.here) throw this.scanner.mistake("this `)` closes nothing");
    return tree;
  }

  either(depth) {
    const parts = [this.both(depth)];
    while (this.takeKeyword("or")) parts.push(this.both(depth));
    return parts.length > 1 ? {any: parts} : parts[0];
  }

  both(depth) {
    const parts = [this.part(depth)];
    while (!this.bothEnds()) {
      this.takeKeyword("and");
      parts.push(this.part(depth));
    }
    return parts.length > 1 ? {all: parts} : parts[0];
  }

  bothEnds() {
    this.scanner.skipBlanks();
    return ["", ")"].includes(this.scanner.here) || this.peekKeyword() === "or";
  }

  part(depth) {
    const {scanner} = this;
    scanner.skipBlanks();
    if (depth > MOST_DEPTH) throw scanner.mistake("the filter is nested too deeply");
    if (["", ")"].includes(scanner.here)) throw this.missing();
    const start = scanner.at;
    if (scanner.take("(")) return this.inside(start, depth);
    if (this.takeKeyword("not")) return {not: this.part(depth + 1)};
    if (scanner.here !== "-") return this.term();
    scanner.at += 1;
    this.before = "-";
    if (!scanner.here || scanner.isHere(BLANKS)) {
      throw new FilterMistake("something must follow `-`", {start, end: start + 1});
    }
    return {not: this.part(depth + 1)};
  }

  inside(opened, depth) {
    this.before = "(";
    const inside = this.either(depth + 1);
    if (!this.scanner.take(")")) {
      throw new FilterMistake("this `(` is not closed", {start: opened, end: opened + 1});
    }
    this.before = "";
    return inside;
  }

  term() {
    const {scanner} = this;
    const alone = scanner.peekOperator();
    if (alone) throw scanner.mistake(`a field must stand before \`${alone}\``, alone.length, listFields());
    const keyword = this.peekKeyword();
    if (keyword) throw scanner.mistake(`something must stand before \`${keyword}\``, keyword.length);
    const word = scanner.readWord(false);
    if (!word.text && !word.isQuoted) throw scanner.mistake(`\`${scanner.here}\` stands alone`);
    this.before = "";
    const operator = scanner.peekOperator();
    if (operator) return this.comparison(word, operator);
    const meant = !word.isQuoted && OTHER_LANGUAGES[word.text];
    if (meant) throw new FilterMistake(`\`${word.text}\` is not a word of filters`, word, `write ${meant}`);
    const words = [word];
    while (scanner.take(",")) words.push(this.value(",", null, false));
    return searchOf(words);
  }

  comparison(name, typed) {
    const {scanner} = this;
    const field = this.field(name);
    const start = scanner.at;
    const operator = typed === ":" ? "=" : typed;
    const spot = {start, end: start + typed.length};
    scanner.at += typed.length;
    if (scanner.isHere("=<>")) {
      const marks = scanner.text.slice(start, scanner.at + 1);
      throw new FilterMistake(`\`${marks}\` is not a comparison`, {start, end: scanner.at + 1}, "= != < <= > >=");
    }
    const isOrder = ORDERS.includes(operator);
    if (isOrder && !hasOrder(field)) throw new FilterMistake(`${field.name} has no order`, spot, "use = or !=");
    if (!isOrder && field.kind === "duration") {
      throw new FilterMistake(`${field.name} is hardly ever an exact time`, spot, `such as ${field.example}`);
    }
    const words = [this.value(typed, field)];
    while (scanner.take(",")) words.push(this.value(",", null));
    const values = words.map((word) => readValue(field, word));
    if (isOrder) checkBound(field, words, values);
    return {field, operator, values};
  }

  field(name) {
    const field = !name.isQuoted && FIELDS.get(name.text.toLowerCase());
    if (field) return field;
    const problem = name.isQuoted ? "the name of a field is not quoted" : `there is no field \`${cut(name.text)}\``;
    throw new FilterMistake(problem, name, listFields());
  }

  /** Keywords are values only where they stand right behind the mark. */
  value(before, field, isValue = true) {
    const {scanner} = this;
    const isGlued = scanner.here !== "" && !scanner.isHere(BLANKS);
    scanner.skipBlanks();
    const isCompared = !isValue && scanner.peekOperator();
    if (!scanner.here || scanner.isHere(isValue ? "()," : "(),-") || isCompared || (!isGlued && this.peekKeyword())) {
      const hint = field?.lacks ? `${field.name}="" finds tasks without one` : "";
      throw scanner.mistake(`a value must follow \`${before}\``, 1, hint);
    }
    return scanner.readWord(isValue);
  }

  /** A keyword that comes next, and is not the name of a field that is compared. */
  peekKeyword() {
    const {scanner} = this;
    scanner.skipBlanks();
    return KEYWORDS.find((keyword) => {
      const end = scanner.at + keyword.length;
      const next = scanner.text.charAt(end);
      return scanner.text.slice(scanner.at, end).toLowerCase() === keyword && (!next || `()"'${BLANKS}`.includes(next));
    }) ?? "";
  }

  takeKeyword(wanted) {
    if (this.peekKeyword() !== wanted) return false;
    this.scanner.at += wanted.length;
    this.before = wanted;
    return true;
  }

  missing() {
    if (this.before === "(" && this.scanner.here === ")") {
      return this.scanner.mistake("nothing stands inside the parentheses");
    }
    if (!this.before) return this.scanner.mistake("this `)` closes nothing");
    return this.scanner.mistake(`something must follow \`${this.before}\``);
  }
}

function checkBound(field, words, values) {
  if (words.length > 1) {
    const spot = {start: words[1].start, end: words.at(-1).end};
    throw new FilterMistake("only = and != take several values", spot, "join comparisons with or");
  }
  const [{first, last, amount}] = values;
  if (amount !== undefined || (first !== undefined && first === last)) return;
  const what = field.kind === "ids" ? "task" : "amount";
  throw new FilterMistake(`${field.name} must be compared with one ${what}`, words[0]);
}

/** Ids among the words are tasks; `stuck` alone is a test of its own. */
function searchOf(words) {
  const empty = words.find((word) => !word.text);
  if (empty) throw new FilterMistake("an empty text is found everywhere", empty);
  if (words.length === 1 && !words[0].isQuoted && words[0].text.toLowerCase() === "stuck") {
    return {field: FIELDS.get("stuck"), operator: "=", values: [{text: "*", isWild: true}]};
  }
  const spans = words.filter(looksLikeIds).map(readIds);
  const others = words.filter((word) => !looksLikeIds(word)).map(readPattern);
  const parts = spans.length ? [{field: FIELDS.get("id"), operator: "=", values: spans}] : [];
  if (others.length) parts.push({words: others});
  return parts.length > 1 ? {any: parts} : parts[0];
}

function listFields() {
  return `fields: ${[...FIELDS.keys()].join(", ")}`;
}
