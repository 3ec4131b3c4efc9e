// CI runs of the queue in words.

export const KINDS = {screen: "screen", train: "train", search: "search", main: "run of main"};
const ENDS = {pass: "passed", fail: "failed", timeout: "did not end in time", infra: "was lost",
  cancelled: "was cancelled"};

/** What a run is and why it is there, in a sentence. */
export function describeRun(run) {
  const count = run.members.length;
  const names = run.members.map((member) => member.id);
  const who = count > 6 ? `${names.slice(0, 6).join(", ")} and ${count - 6} more` : names.join(", ");
  const what = {
    train: count === 1 ? `train of ${who} alone` : `train of ${count}: ${who}`,
    screen: count === 1 ? `${run.members[0].again ? "another try of" : "screen of"} ${who} alone`
      : `pool of ${count}: ${who}`,
    search: `${who}, looking for the culprit of ${run.searched_from}`,
    main: "main itself, without any change",
  }[run.kind];
  const end = run.ended ? `${ENDS[run.result] ?? "ended"}${run.landed ? " and landed" : ""}` : run.cancelling
    ? "is being stopped" : "is running";
  return `${run.run}, ${what}; ${end}${run.note && run.ended && run.result !== "pass" ? `: ${run.note}` : ""}`;
}

export function membersOf(run) {
  if (!run.members.length) return "main";
  const tries = Math.max(...run.members.map((member) => member.again));
  const again = tries ? `${["", "2nd", "3rd"][tries] ?? `${tries + 1}th`} ` : "";
  return again + run.members.map((member) => member.id).join(" ");
}
