/** The shapes of a reading session, as `src/citewell/service/papers/reading_sessions.py` has them. Types only: nothing here runs. */

/** @typedef {import("../ask/types.js").Citation} Citation */
/** @typedef {import("../ask/types.js").Sentence} Sentence */
/** @typedef {import("../ask/types.js").Answer} Answer */
/** @typedef {import("../ask/types.js").Step} Step */

/** @typedef {"GUIDE_PENDING_REPORT" | "GUIDE_PENDING_PLAN" | "CONTROL_ROUTING"} State */
/** @typedef {{doc_id: string, collection: string, name: string, title: string, authors: string[], lang: string, pages: number}} PaperInfo */

/**
 * @typedef {object} PaperRow
 * @property {string} session_id
 * @property {string} title
 * @property {State} current_state
 * @property {PaperInfo} paper
 * @property {number} steps
 * @property {number} read
 * @property {number} minutes
 * @property {number} questions
 * @property {number} last_updated
 */

/** @typedef {{question: string, section: string, page: number | null, citations: number[]}} Suggestion */

/**
 * @typedef {object} Report
 * @property {string} lang
 * @property {{slot: string, sentences: Sentence[]}[]} parts
 * @property {{term: string, sentence: Sentence}[]} terms
 * @property {Suggestion[]} questions
 * @property {string} question
 * @property {Citation[]} citations
 * @property {string[]} warnings
 */

/**
 * @typedef {object} PlanStep
 * @property {string} step_id
 * @property {string} section
 * @property {string} role
 * @property {number} start
 * @property {number} end
 * @property {number} first_page
 * @property {number} last_page
 * @property {number} minutes
 * @property {string} why
 * @property {string} quote
 * @property {number | null} done_at
 */

/** @typedef {{interest: string, lang: string, steps: PlanStep[], revision: number, made_at: number}} Plan */
/** @typedef {{do: "tick" | "untick" | "remove" | "move" | "add", step_id?: string, section?: string, place?: number}} PlanEdit */
/** @typedef {{trace_id: string, question: string}} Pending */
/** @typedef {{label: string, text: string, page: number | null, start: number, end: number, citations: number[]}} Reference */

/**
 * @typedef {object} Exchange
 * @property {number} turn
 * @property {string} question
 * @property {string} clarified
 * @property {string[]} agents
 * @property {string} answer
 * @property {Answer["status"]} status
 * @property {number} confidence
 * @property {Sentence[]} sentences
 * @property {Citation[]} citations
 * @property {{references?: Reference[]}} data
 * @property {string[]} warnings
 * @property {string} trace_id
 * @property {string} message_id
 * @property {number} asked_at
 */

/**
 * @typedef {object} PaperSession
 * @property {string} session_id
 * @property {string} user_id
 * @property {string} title
 * @property {State} current_state
 * @property {PaperInfo} paper
 * @property {Report | null} report
 * @property {Plan | null} plan
 * @property {Exchange[]} answers
 * @property {Pending[]} unfinished
 * @property {Pending[]} under_way
 * @property {boolean} removed
 * @property {string[]} warnings
 * @property {number} last_updated
 */

/**
 * @typedef {object} Job
 * @property {string} job_id
 * @property {string} kind
 * @property {Record<string, any>} payload
 * @property {"queued" | "running" | "done" | "failed" | "cancelled"} state
 * @property {number} done
 * @property {number} total
 * @property {{code: string, message: string, hint: string} | null} error
 */

/** @typedef {{role: string, heading: string, heading_path: string[], start: number, end: number, first_page: number, last_page: number, appendix: boolean}} Part */
/** @typedef {{kind: "figure" | "table", label: string, number: string, caption: string, start: number, end: number, page: number}} Float */

/**
 * @typedef {object} Structure
 * @property {string} title
 * @property {string[]} authors
 * @property {string[]} keywords
 * @property {string} abstract
 * @property {Part[]} parts
 * @property {Float[]} floats
 * @property {{label: string, text: string, start: number, end: number, page: number}[]} equations
 * @property {{key: string, text: string, start: number, end: number, page: number}[]} references
 */

/**
 * What is sent to a session, and its own name: the same one again brings the answer that is there.
 * @typedef {object} Message
 * @property {string} message_id
 * @property {"message" | "plan" | "report"} kind
 * @property {string} text
 * @property {{text: string} | null} selection
 */

/**
 * A place in the paper to look at. `at` makes two looks at the same place two.
 * @typedef {object} Look
 * @property {number} page
 * @property {number} start
 * @property {number} end
 * @property {number[][]} boxes
 * @property {string} quote
 * @property {number} at
 */

export {};
