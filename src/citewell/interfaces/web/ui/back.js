/**
 * What covers the page on a phone (a sheet, a drawer) is closed by Back, as people expect there.
 * The one rule: it has one entry in the browser's history while it is open, and none afterwards.
 */

import { go } from "../state.js";
import { useLayoutEffect, useRef } from "./html.js";

let count = 0;

/** @param {boolean} open @param {() => void} close */
export function useBack(open, close) {
  const last = useRef(close);
  last.current = close;
  useLayoutEffect(() => { // before it is seen, for Back may come at once
    if (!open) return;
    const mine = (count += 1);
    history.pushState({ over: mine }, "");
    const left = () => history.state?.over !== mine && last.current();
    addEventListener("popstate", left);
    document.addEventListener("click", followed, true);
    return () => {
      removeEventListener("popstate", left);
      document.removeEventListener("click", followed, true);
      if (history.state?.over === mine) history.back();
    };
  }, [open]);
}

/** A link to another part of the page takes the place of what is open; asked before the link's own listeners, which may close it. @param {MouseEvent} event */
function followed(event) {
  const to = event.target instanceof Element ? event.target.closest("a")?.getAttribute("href") : null;
  if (!to?.startsWith("#/") || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(to.slice(1));
}
