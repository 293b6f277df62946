/** An answer as Markdown, and texts onto the clipboard. The one rule: what is copied carries its sources with it. */
import { t } from "../i18n.js";
import { toast } from "../ui/index.js";
import { placed, webAddress } from "./place.js";

/** @typedef {import("./types.js").Answer} Answer */

/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("ask.copied"), "good");
  } catch {
    toast(t("ask.not_copied"), "problem");
  }
}

/** @param {string} question @param {Answer} answer */
export function asMarkdown(question, answer) {
  const parts = [`**${question.trim()}**`, answer.answer.trim()];
  if (answer.data?.sql) parts.push(`\`\`\`sql\n${answer.data.sql}\n\`\`\``);
  if (answer.citations.length) {
    const lines = answer.citations.map((each) => {
      const address = webAddress(each);
      return `${each.n}. ${placed(each)}${address ? ` <${address}>` : ""}: “${each.quote.replace(/\s+/g, " ").trim()}”`;
    });
    parts.push(`${t("ask.sources")}\n\n${lines.join("\n")}`);
  }
  return `${parts.join("\n\n")}\n`;
}
