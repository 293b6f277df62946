/** What every component is made of: Preact with `htm` templates, hooks and signals, from one place. */

import { Component, createContext, Fragment, h, render } from "preact";
import {
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
} from "preact/hooks";
import { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import htm from "htm";

/** A template of markup: `html\`<p class=${name}>${text}</p>\``. Text in it is text, never markup.
 * @type {(strings: TemplateStringsArray, ...values: any[]) => import("preact").VNode<any>} */
export const html = /** @type {any} */ (htm.bind(/** @type {any} */ (h)));

export { Component, createContext, Fragment, h, render };
export { useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState };
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect };
