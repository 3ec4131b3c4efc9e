// The libraries of the page, from one place: components as tagged templates, and values that redraw what reads them.
import {h} from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);

export {h, render, Fragment, createContext, createRef, cloneElement} from "../vendor/preact.js";
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "../vendor/hooks.js";
export {
  Signal,
  batch,
  computed,
  effect,
  signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
} from "../vendor/signals.js";
