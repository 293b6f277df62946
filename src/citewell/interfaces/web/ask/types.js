/**
 * The shapes that the server sends, as `src/citewell/types/` has them. Types only: nothing here runs.
 */

/**
 * @typedef {object} Citation
 * @property {number} n
 * @property {"document" | "web" | "memory" | "table" | "confirmed"} origin
 * @property {string} doc_id
 * @property {string} title
 * @property {string} uri
 * @property {number | null} page
 * @property {string} section
 * @property {string} quote
 * @property {number} start
 * @property {number} end
 * @property {number[][]} boxes
 * @property {number} score
 * @property {"verified" | "weak"} status
 * @property {number | null} fetched_at
 * @property {number | null} [as_of]
 * @property {boolean} [gives_orders]
 */

/**
 * `span`: start and end of the answering words in `text`, in characters; `kind` and those after it are missing in older answers.
 * @typedef {object} Sentence
 * @property {string} text
 * @property {number[]} citations
 * @property {"supported" | "partly" | "unsupported"} verdict
 * @property {string[]} problems
 * @property {"fact" | "calculation" | "comparison" | "correction" | "not_told"} [kind]
 * @property {string} [calculation]
 * @property {number[]} [span]
 */

/** @typedef {{n: number, node: string, action: string, seconds: number, detail: Record<string, any>}} Step */

/**
 * @typedef {object} Followed
 * @property {string} item_id
 * @property {"confirmed" | "rule"} kind
 * @property {string} how
 * @property {string} question
 * @property {string} text
 * @property {string[]} confirmed_by
 * @property {number} confirmed_at
 * @property {number} similarity
 */

/** @typedef {import("../ui/chart.js").ChartSpec} ChartWish */

/**
 * @typedef {object} TableData
 * @property {string} source
 * @property {string} dialect
 * @property {string} sql
 * @property {string[]} columns
 * @property {any[][]} rows
 * @property {number} row_count
 * @property {boolean} truncated
 * @property {ChartWish | null} chart
 * @property {ChartWish | null} [chosen]  as a person wants it
 * @property {{role: "id" | "time" | "quantity" | "plain", unit: string}[]} [looks]  one a column
 * @property {Record<string, string>[]} tried
 */

/**
 * What a statement gave that a person ran.
 * @typedef {{data: TableData, at: number, seconds: number, problem: string}} Result
 */

/**
 * A question to tables that is kept.
 * @typedef {{saved_id: string, name: string, source: string, sql: string, question: string, edited: boolean, chart: ChartWish | null,
 *   lang: string, owner: string, shared: boolean, created_at: number, updated_at: number}} Saved
 * @typedef {{board_id: string, name: string, owner: string, shared: boolean, refresh_seconds: number, cards: Saved[], hidden: number}} Board
 */

/** @typedef {"answered" | "fallback" | "refused" | "clarify" | "error"} Status */

/**
 * @typedef {object} Answer
 * @property {string} answer
 * @property {Sentence[]} sentences
 * @property {Citation[]} citations
 * @property {Status} status
 * @property {number} confidence
 * @property {string} agent
 * @property {string} agent_reason
 * @property {string} route
 * @property {string} stop_reason
 * @property {string} session_id
 * @property {string} trace_id
 * @property {string[]} warnings
 * @property {{calls: number, prompt_tokens: number, completion_tokens: number, seconds: Record<string, number>}} usage
 * @property {TableData | null} data
 * @property {Followed[]} followed
 * @property {string[]} [choices]  of a question back: what may be meant
 * @property {{agent: string, source: string, collection: string} | null} [elsewhere]  of a refusal: who may know it
 * @property {Record<string, string> | null} error_info
 */

/**
 * @typedef {object} Request
 * @property {string} question
 * @property {string} [agent]
 * @property {string | null} [collection]
 * @property {string | null} [session_id]
 * @property {Record<string, any>} [options]
 * @property {string} [resume]
 */

/**
 * A page of a site, as `progress` events tell it.
 * @typedef {object} Visit
 * @property {string} url
 * @property {string} title
 * @property {string} how
 * @property {string} problem
 * @property {string} [code] of the problem
 * @property {string} why
 * @property {number} iteration
 * @property {number} pages
 * @property {number} links
 */

/**
 * @typedef {object} Session
 * @property {string} session_id
 * @property {string} title
 * @property {string} agent
 * @property {number} messages
 * @property {number} last_updated
 * @property {boolean} [pinned]
 * @property {boolean} [archived]
 * @property {string} [folder]  id of the one it stands in; empty: none
 */

/** @typedef {{folder_id: string, name: string}} Folder */
/** @typedef {{share_id: string, session_id: string, user_id: string, readers: string[], created_at: number, expires_at: number}} Share */

/**
 * @typedef {object} Vote
 * @property {string} feedback_id
 * @property {string} trace_id
 * @property {boolean} is_correct
 * @property {string} correction
 * @property {"waiting" | "done" | "failed"} state
 * @property {string} outcome
 * @property {string} item_id
 */

export {};
