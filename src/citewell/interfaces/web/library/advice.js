/**
 * What to do about a file that could not be read, by the reason the server gives. The one rule: the reason itself is always shown
 * too; advice is only added where it is sure.
 */

/** @type {[RegExp, string][]} */
const ADVICE = [
  [/protected by (a password|DRM)/, "locked"],
  [/no text layer|a picture in which no text|only with OCR, which is off/, "scanned"],
  [/known types|of no format|cannot be read: it is|which cannot be read|is binary, not text|earlier Office|today's format/, "type"],
  [/is empty|holds no text|hardly any text|holds nothing that can be read/, "empty"],
  [/bytes is more than|bytes; .* are allowed|larger than|more text than|too large|more than .* (values|parts|files|tables)/, "large"],
  [/ pages; .* are allowed/, "pages"],
  [/zip bombs|times its size/, "packed"],
  [/is broken|not valid JSON|packed wrongly|parser crashed/, "broken"],
  [/could not be read within|needs more (than|memory)/, "slow"],
  [/known encoding/, "encoding"],
  [/holds no table|no table that can be read/, "no_table"],
  [/robots\.txt/, "robots"],
  [/not on the public internet/, "private"],
  [/https?:\/\/.*(: (404|410|403|401|5\d\d)|not found|refused|timed out|no answer|cannot be reached)/i, "page"],
];

/**
 * The key of the advice, or nothing. @param {string} reason @returns {string}
 */
export function advice(reason) {
  const found = ADVICE.find(([sign]) => sign.test(reason));
  return found ? `library.advice_${found[1]}` : "";
}

/**
 * A reason in two parts: what is said at once, and a long list of types that is shown on demand.
 * @param {string} reason
 * @returns {[string, string]}
 */
export function shortened(reason) {
  const at = /(?:^|[;；] ?)[^;；:：]+[:：] ?(?:[^,，、;；:：]+[,，、] ?){8}/.exec(reason)?.index ?? 0; // a clause that lists more than eight
  return at > 0 ? [reason.slice(0, at), reason.slice(at).replace(/^[;；] ?/, "")] : [reason, ""];
}
