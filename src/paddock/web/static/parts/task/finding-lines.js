// Findings at the lines of the change that they are about.

import {html, useEffect, useRef} from "../../lib/ui.js";
import {placeOf} from "../../lib/comment-drafts.js";
import {toast} from "../../lib/toasts.js";
import {FindingNote} from "./findings.js";

/** What is open is shown on every version, what has ended only on the one it was about. */
export function isOn({path, status, head}, which, {task}) {
  if (!path) return false;
  return status === "open" || head === (which.name === "now" ? task.head : which.to);
}

function placeOfFinding({path, line}) {
  return placeOf({path, side: "new", line});
}

export function findingNotes(findings, versions, places) {
  return findings.filter((one) => one.line && places.includes(placeOfFinding(one)))
    .map((one) => html`<${FindingNote} key=${one.id} finding=${one} versions=${versions} />`);
}

/** Those about a file as a whole, or about lines of it that are not shown. */
export function notesApart(findings, file, versions) {
  const lines = new Set(file.hunks.flatMap((hunk) => hunk.lines.map((line) => line.new)));
  return findings.filter((one) => !one.line || !lines.has(one.line))
    .map((one) => html`<${FindingNote} key=${one.id} finding=${one} versions=${versions} isApart=${true} />`);
}

/** To the line of a finding, in the version that it is about. */
export function useGoal({goal, box, diff, which, setWhich, versions, page, fold}) {
  const reached = useRef(null);
  useEffect(() => {
    if (!goal || reached.current === goal || !diff) return;
    const {finding} = goal;
    const own = finding.head === page.task.head ? null : versions.find((one) => one.head === finding.head && one.from);
    if (finding.status !== "open" && own && which.name !== own.name) {
      setWhich(own);
      return;
    }
    reached.current = goal;
    if (!diff.files.some((file) => file.path === finding.path)) {
      toast({words: `${finding.path} is not part of what is shown`, tone: "refused"});
      return;
    }
    fold(finding.path, true);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      box.current?.querySelector(`[data-finding-note="${finding.id}"]`)?.scrollIntoView({block: "center"});
    }));
  }, [goal, diff]);
}
