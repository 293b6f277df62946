/** What of the conversations the sidebar asks for, and how many there are. */
import { signal } from "../ui/html.js";

export const LISTED = 60; // conversations that are asked for at once

/** @typedef {{agent: string, archived: boolean, limit: number}} Listing  `agent`: of this one alone; `archived`: those too */

/** @type {Listing} */
export const NEWEST = { agent: "", archived: false, limit: LISTED };
export const listing = signal(NEWEST);
/** `total`: those that stand in no folder, of what is asked for; `archived`, `agents`: of everything. */
export const counts = signal({ total: 0, archived: 0, agents: /** @type {string[]} */ ([]) });
