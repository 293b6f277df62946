/** What was said in a conversation, with the answers that are still kept. */

/** @typedef {import("./talks.js").Turn} Turn */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Request} Request */

/**
 * What was said, each question with its answer where that is kept: traces go after their days, history does not.
 * @param {{role: string, content: string}[]} history
 * @param {{trace_id: string, created_at: number, question: string, request: Partial<Request>, answer: Answer}[]} answers
 * @returns {Turn[]}
 */
export function joined(history, answers) {
  /** @type {Turn[]} */
  const turns = [];
  let next = 0;
  for (const message of history) {
    const last = turns.at(-1);
    if (message.role === "user") {
      turns.push({ key: `h${turns.length}`, question: message.content, request: {}, at: 0 });
    } else if (message.role === "assistant" && last && last.said === undefined) {
      last.said = message.content;
      const at = answers.findIndex((each, n) => n >= next && each.question === last.question && each.answer.answer === message.content);
      const found = answers[at];
      if (!found) continue;
      next = at + 1;
      Object.assign(last, { key: found.trace_id, request: found.request, at: found.created_at, answer: found.answer });
    }
  }
  return turns;
}
