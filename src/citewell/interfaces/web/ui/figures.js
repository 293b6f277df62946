/** Times and figures as people of the page's language write them. */

import { lang } from "../state.js";

/** @type {Record<string, string>} */
const LOCALES = { en: "en-GB", zh: "zh-CN" };
const UNITS = /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
]);

export const locale = () => LOCALES[lang.value] ?? lang.value;

/** A day and a time, of seconds since the epoch. @param {number | null | undefined} seconds */
export function time(seconds) {
  if (!seconds) return "–";
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
}

/** A day alone, of seconds since the epoch. @param {number | null | undefined} seconds */
export function day(seconds) {
  return seconds ? new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(seconds * 1000) : "–";
}

/** "October 2026", of seconds since the epoch. @param {number} seconds */
export function month(seconds) {
  return new Intl.DateTimeFormat(locale(), { year: "numeric", month: "long" }).format(seconds * 1000);
}

/** "3 minutes ago", of seconds since the epoch. @param {number | null | undefined} seconds */
export function ago(seconds) {
  if (!seconds) return "–";
  const past = seconds - Date.now() / 1000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of UNITS) {
    if (Math.abs(past) >= length) return words.format(Math.round(past / length), unit);
  }
  return words.format(0, "second");
}

/** A number with its thousands apart. @param {number | null | undefined} n @param {number} [digits] most digits after the point */
export function figure(n, digits = 2) {
  return n === null || n === undefined ? "–" : new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(n);
}

/** A share as percent. @param {number | null | undefined} share 0 to 1 @param {number} [digits] */
export function percent(share, digits = 0) {
  if (share === null || share === undefined) return "–";
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: digits }).format(share);
}

/** A size of a file. @param {number | null | undefined} n */
export function bytes(n) {
  if (n === null || n === undefined) return "–";
  const step = n < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(n) / 3));
  return `${figure(n / 1000 ** step, step > 1 ? 1 : 0)} ${["B", "kB", "MB", "GB"][step]}`;
}

/** How long something took: "0.4 s", "2 min 5 s", 0.4 秒. @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const [ms, s, min] = lang.value === "zh" ? ["毫秒", "秒", "分"] : ["ms", "s", "min"];
  if (seconds < 0.0995) return `${figure(seconds * 1000, 0)} ${ms}`;
  if (seconds < 60) return `${figure(seconds, seconds < 10 ? 1 : 0)} ${s}`;
  return `${figure(Math.floor(seconds / 60), 0)} ${min} ${figure(Math.floor(seconds % 60), 0)} ${s}`;
}
