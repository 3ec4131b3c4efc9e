// The board's filter: all words must be found; `phase:running`, `agent:fixer` and the like look at one field;
// a minus in front turns a word round.

const FIELDS = ["phase", "agent", "engine", "model", "convoy", "kind", "need", "id", "after"];
const SEARCHED = ["id", "title", "agent", "engine", "convoy", "reason", "step", "stuck", "phase", "need"];

/** A function of a task's row, or null for an empty filter. */
export function filterOf(text) {
  const tests = wordsOf(text).map(testOf);
  return tests.length ? (row) => tests.every((test) => test(row)) : null;
}

/** Words at blanks; quotes keep blanks together. */
export function wordsOf(text) {
  const words = [...text.matchAll(/-?(?:\w+:)?"[^"]*"?|\S+/g)].map(([word]) => word.replaceAll('"', "").toLowerCase());
  return words.filter((word) => word && word !== "-");
}

function testOf(word) {
  if (word.startsWith("-") && word.length > 1) {
    const test = testOf(word.slice(1));
    return (row) => !test(row);
  }
  const [field, ...rest] = word.split(":");
  if (rest.length && FIELDS.includes(field)) return fieldTest(field, rest.join(":"));
  if (word === "stuck") return (row) => Boolean(row.stuck);
  return (row) => SEARCHED.some((name) => row[name] && String(row[name]).toLowerCase().includes(word));
}

function fieldTest(field, wanted) {
  const names = wanted.split(",");
  return (row) => {
    const values = [row[field]].flat().map((value) => String(value ?? "").toLowerCase());
    return names.some((name) => values.includes(name));
  };
}
