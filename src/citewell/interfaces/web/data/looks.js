/**
 * How the values of a column are written: figures with their marks and unit, months and days as people of the page's language say them.
 * The one rule: what the column is was found out where the rows were read (`TableData.looks`); names are looked at only where nobody told.
 */
import { locale } from "../ui/figures.js";
import { cellText, isGrouped, kindOf } from "./cells.js";

/** @typedef {import("./cells.js").Value} Value */
/** @typedef {{role: "id" | "time" | "quantity" | "plain", unit: string}} Told */
/** @typedef {{number: boolean, grouped: boolean, time: boolean, unit: string, money: string}} Look `unit`: empty where the head has it */

/** @type {Record<string, string>} */
const MONEY = { "€": "EUR", "欧元": "EUR", $: "USD", "美元": "USD", "£": "GBP", "¥": "CNY", "￥": "CNY", "元": "CNY" };
const CODE = /^[A-Z]{3}$/;
const TIME = /^(\d{4})-(\d{2})(?:-(\d{2})(?:[ T](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?)?)?$/;
const FINE = 4; // figures after the point of what is no money

/** @param {string[]} columns @param {Value[][]} rows @param {Told[]} [told] @returns {Look[]} */
export function looksOf(columns, rows, told = []) {
  return columns.map((name, at) => {
    const number = kindOf(rows, at) === "number";
    const { role, unit = "" } = told[at] ?? { role: "" };
    const code = MONEY[unit] ?? (CODE.test(unit) ? unit : "");
    const said = Boolean(unit) && new RegExp(`[(（\\[]\\s*${unit.replace(/[$^*()[\]{}.?+|\\]/g, "\\$&")}\\s*[)）\\]]`).test(name);
    return {
      number,
      grouped: number && (role ? role === "quantity" : isGrouped(name, rows, at)),
      time: role ? role === "time" : !number,
      unit: said ? "" : unit,
      money: code,
    };
  });
}

/** A value for people. @param {Value} value @param {Look | undefined} look */
export function shown(value, look) {
  if (value === null || value === undefined) return "";
  if (look?.time && typeof value === "string") return timeText(value);
  if (!look?.grouped || typeof value !== "number") return cellText(value, look?.grouped) + (look?.grouped && look.unit ? suffix(look.unit) : "");
  return figureText(value, look);
}

/** @param {number} value @param {Look} look */
function figureText(value, { unit, money }) {
  const whole = Number.isInteger(value);
  const small = Math.abs(value) < 1 && !money;
  const places = money ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : small ? { maximumSignificantDigits: FINE } : { maximumFractionDigits: FINE };
  const style = money && unit ? { style: /** @type {"currency"} */ ("currency"), currency: money } : {};
  const text = new Intl.NumberFormat(locale(), { ...(whole && !money ? {} : places), ...style }).format(value);
  return unit && !money ? text + suffix(unit) : text;
}

/** @param {string} unit */
const suffix = (unit) => (unit === "%" ? "%" : ` ${unit}`);

/** "2024-03" as "March 2024", 2024年3月; a moment at midnight as its day. @param {string} text */
export function timeText(text) {
  const found = TIME.exec(text.trim());
  if (!found) return text;
  const [, year, month, day, clock, rest] = found;
  const moment = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1)));
  if (moment.getUTCMonth() !== Number(month) - 1) return text;
  const form = day ? { day: /** @type {"numeric"} */ ("numeric"), month: /** @type {"short"} */ ("short") } : { month: /** @type {"long"} */ ("long") };
  const said = new Intl.DateTimeFormat(locale(), { year: "numeric", ...form, timeZone: "UTC" }).format(moment);
  return clock ? `${said} ${clock}${rest && !/^:00(\.0+)?$/.test(rest) ? rest : ""}` : said;
}
