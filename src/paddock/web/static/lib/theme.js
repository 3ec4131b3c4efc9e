// Light, dark, or what the system prefers; remembered in this browser.

import {signal} from "./ui.js";
import {recall, remember} from "./memory.js";

const THEMES = ["system", "light", "dark"];
export const theme = signal(THEMES.includes(recall("theme")) ? recall("theme") : "system");

export function startTheme() {
  theme.subscribe((chosen) => {
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    remember("theme", chosen);
  });
}

export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
}
