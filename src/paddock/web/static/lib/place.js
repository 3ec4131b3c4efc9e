// Where this page's repository is on its server: at "/", or below "/r/NAME" where the server shows several.

/** What its addresses begin with; empty where it is the only one. */
export const root = /^\/r\/[^/]+(?=\/|$)/.exec(location.pathname)?.[0] ?? "";

/** Its name among several; empty where it is the only one. */
export const ownName = root.slice("/r/".length);

/** The address of a page, such as "/queue", or of a part of the API. */
export function at(path) {
  return root + path;
}

/** The path of a page within its repository; null for an address of another one. */
export function within(pathname) {
  if (!root) return pathname;
  return pathname === root || pathname.startsWith(`${root}/`) ? pathname.slice(root.length) || "/" : null;
}
