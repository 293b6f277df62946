/** Bringing what is cited into view. The one rule: only the panel's own frame is scrolled, never the page behind it. */

const SHARE = 0.3; // of the frame's height that stands above what is shown

/** @param {Element | null | undefined} frame @param {Element | null | undefined} what */
export function intoView(frame, what) {
  if (!frame) return;
  if (!what) return void (frame.scrollTop = 0);
  const [outer, inner] = [frame.getBoundingClientRect(), what.getBoundingClientRect()];
  frame.scrollTop += inner.top - outer.top - SHARE * frame.clientHeight;
  const wide = inner.left < outer.left || inner.right > outer.right;
  if (wide) frame.scrollLeft += inner.left - outer.left - SHARE * frame.clientWidth;
}
