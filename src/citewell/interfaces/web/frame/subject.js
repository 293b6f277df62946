/** What is open in a view, for the window's title: a conversation's question, a collection's name. */

import { signal, useEffect } from "../ui/html.js";

export const subject = signal("");

/** As long as the component stands. @param {string | null | undefined} text */
export function useSubject(text) {
  useEffect(() => {
    const mine = (text ?? "").slice(0, 120);
    subject.value = mine;
    return () => {
      if (subject.value === mine) subject.value = "";
    };
  }, [text]);
}
