/** A question in a long text, such as a mail that was pasted. The one rule: the question is words of the text, as they stand. */

export const LONGEST_QUESTION = 500; // characters, as the server has it
export const LONGEST_TEXT = 8000;

/**
 * `material`: the text around it, where the question is only a part of it.
 * @param {string} text @returns {{question: string, material: string}}
 */
export function questionIn(text) {
  const whole = text.trim();
  if (whole.length <= LONGEST_QUESTION) return { question: whole, material: "" };
  const lines = whole.split(/\n+/).map((line) => line.trim()).filter(Boolean);
  const sentences = lines.flatMap((line) => line.split(/(?<=[?？!！。])\s*|(?<=[.:：])\s+/)).map((each) => each.trim());
  const asked = sentences.filter((each) => /[?？]$/.test(each) && each.length <= LONGEST_QUESTION);
  // who asks writes above or below what they paste; a question within it is the mail's own
  const own = [lines.at(-1), lines[0]].map((line) => asked.findLast((each) => line?.includes(each)));
  const question = own.find(Boolean) ?? asked.at(-1) ?? lines.findLast((line) => line.length <= LONGEST_QUESTION) ?? whole.slice(0, LONGEST_QUESTION);
  return { question, material: whole.replace(question, "").trim() };
}
