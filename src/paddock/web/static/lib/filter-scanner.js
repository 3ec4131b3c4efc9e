// The words and marks of a filter, with their places: as `core/filter/scanner.py` reads them.

export const BLANKS = " \t\n\v\f\r\u00a0\u3000";
const OPERATORS = ["!=", "<=", ">=", "=", "<", ">", ":"];
const ENDS_VALUE = `${BLANKS}(),`;
const ENDS_WORD = `${ENDS_VALUE}=<>:`;

/** What is wrong, and which characters of the text it is about. */
export class FilterMistake extends Error {
  constructor(problem, {start, end}, hint = "") {
    super(problem);
    this.start = start;
    this.end = end;
    this.hint = hint;
  }
}

export class Scanner {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** The next character; empty at the end. */
  get here() {
    return this.text.charAt(this.at);
  }

  isHere(marks) {
    return this.here !== "" && marks.includes(this.here);
  }

  skipBlanks() {
    while (this.isHere(BLANKS)) this.at += 1;
  }

  take(mark) {
    this.skipBlanks();
    if (this.here !== mark) return false;
    this.at += 1;
    return true;
  }

  peekOperator() {
    this.skipBlanks();
    return OPERATORS.find((one) => this.text.startsWith(one, this.at)) ?? "";
  }

  /** The word that starts here; only a value may have marks of the language in it. */
  readWord(isValue) {
    if (this.isHere("\"'")) return this.readQuoted(this.here);
    const start = this.at;
    while (this.here && !this.endsWord(isValue)) this.at += 1;
    if (this.here === '"') throw this.mistake("a quote must not stand inside a word", 1, "quote the whole word");
    return {text: this.text.slice(start, this.at), start, end: this.at, isQuoted: false};
  }

  endsWord(isValue) {
    if (this.here === '"') return true;
    return isValue ? this.isHere(ENDS_VALUE) : this.isHere(ENDS_WORD) || this.text.startsWith("!=", this.at);
  }

  /** A backslash in front of a quote or of another backslash takes its meaning away. */
  readQuoted(quote) {
    const start = this.at;
    let text = "";
    for (this.at += 1; this.here !== quote; this.at += 1) {
      if (!this.here) throw new FilterMistake("this quote is not closed", {start, end: start + 1});
      const next = this.text.charAt(this.at + 1);
      if (this.here === "\\" && next && "\\\"'".includes(next)) this.at += 1;
      text += this.here;
    }
    this.at += 1;
    if (this.here && !this.isHere(ENDS_WORD) && !this.text.startsWith("!=", this.at)) {
      throw this.mistake("a blank must follow the quote");
    }
    return {text, start, end: this.at, isQuoted: true};
  }

  mistake(problem, length = 1, hint = "") {
    return new FilterMistake(problem, {start: this.at, end: this.at + length}, hint);
  }
}
