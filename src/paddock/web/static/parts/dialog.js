// Dialogs, one above the other. The browser's own <dialog> keeps the focus inside and gives it back.

import {html, signal, useEffect, useRef} from "../lib/ui.js";
import {useKeys} from "../lib/keys.js";

const open = signal([]);
let count = 0;

/** Shows `Component` with `props` and `close(answer)`; resolves to the answer, null where it was dismissed. */
export function openDialog(Component, props = {}) {
  return new Promise((resolve) => {
    const id = ++count;
    const close = (answer = null) => {
      open.value = open.value.filter((one) => one.id !== id);
      resolve(answer);
    };
    open.value = [...open.value, {id, Component, props, close}];
  });
}

export function hasDialog() {
  return open.value.length > 0;
}

export function Dialogs() {
  return open.value.map(({id, Component, props, close}) => html`<${Component} key=${id} ...${props} close=${close} />`);
}

export function Dialog({title, close, children, size = ""}) {
  const box = useRef(null);
  useKeys({}, {scope: title, modal: true});
  useEffect(() => {
    const element = box.current;
    element.showModal();
    element.querySelector("[data-first], input, textarea, select")?.focus();
    return () => element.close();
  }, []);
  const dismiss = (event) => {
    event.preventDefault();
    close(null);
  };
  const onClick = (event) => { if (event.target === box.current) close(null); };
  return html`<dialog class=${`dialog panel ${size}`} ref=${box} aria-label=${title} onCancel=${dismiss}
    onMouseDown=${onClick}>
    ${children}
  </dialog>`;
}
