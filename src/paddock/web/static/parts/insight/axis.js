// The axis of a picture of money.

/** A round sum that is no smaller. */
export function niceAbove(usd) {
  if (usd <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(usd));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((one) => one * power).find((one) => one >= usd) ?? 10 * power;
}
