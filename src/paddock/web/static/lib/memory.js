// What this browser remembers between visits. A browser that forbids it only forgets.

const PREFIX = "paddock.";

export function recall(name, otherwise = null) {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? otherwise : JSON.parse(kept);
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    if (value === null || value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows and full disks: the page works the same without.
  }
}

/** For this tab's next page alone. */
export function leaveWord(name) {
  try {
    sessionStorage.setItem(PREFIX + name, "left");
  } catch {
    // As above.
  }
}

/** Whether there was one. */
export function takeWord(name) {
  try {
    const found = sessionStorage.getItem(PREFIX + name) !== null;
    sessionStorage.removeItem(PREFIX + name);
    return found;
  } catch {
    return false;
  }
}
