/**
 * Right or wrong, and what would be right. The one rule: what became of a word is told, not only that it was sent.
 */
import { get, post } from "../api.js";
import { known, t } from "../i18n.js";
import { said } from "../said.js";
import { me, user } from "../state.js";
import { html, signal, useEffect, useRef, useState } from "../ui/html.js";
import { Icon, Problem } from "../ui/index.js";

/** @typedef {import("./types.js").Vote} Vote */

const LOOKS = [400, 800, 1500, 3000, 5000, 8000, 15000]; // milliseconds before each look at what became of a vote
const LONGEST = 4000; // characters of a correction

/** What this user has said, by trace. */
export const votes = signal(/** @type {Map<string, Vote>} */ (new Map()));

let loadedFor = ""; // whose votes these are

/** Once a person: until they are here, thumbs show nothing said yet. @param {string} person */
async function loadVotes(person) {
  if (loadedFor === person) return;
  loadedFor = person;
  const { feedback } = await get("/feedback", { limit: 500 });
  votes.value = new Map(feedback.map((/** @type {Vote} */ vote) => [vote.trace_id, vote]));
}

/** @param {Vote} vote */
function put(vote) {
  votes.value = new Map(votes.value).set(vote.trace_id, vote);
}

/** @param {{traceId: string}} props */
export function Feedback({ traceId }) {
  const vote = votes.value.get(traceId);
  const person = `${me.value?.user_id ?? ""} ${user.value}`;
  const [open, setOpen] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [busy, setBusy] = useState(false);
  const there = useRef(true);
  const down = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    loadVotes(person).catch(() => (loadedFor = ""));
  }, [person]);
  useEffect(() => () => void (there.current = false), []);

  const give = async (/** @type {boolean} */ right, correction = "") => {
    setBusy(true);
    setError(null);
    try {
      const body = { trace_id: traceId, is_correct: right, ...(correction ? { user_correction: correction } : {}) };
      const given = await post("/feedback", body);
      setOpen(false);
      void follow(given.feedback_id);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };

  /** @param {string} id */
  const follow = async (id) => {
    for (const wait of [0, ...LOOKS]) {
      await new Promise((done) => setTimeout(done, wait));
      const found = await get(`/feedback/${encodeURIComponent(id)}`).catch(() => null);
      if (found) put(found);
      if (!there.current || (found && found.state !== "waiting")) return;
    }
  };
  useEffect(() => {
    if (vote?.state === "waiting") void follow(vote.feedback_id);
  }, [traceId]);

  const close = () => {
    setOpen(false);
    down.current?.focus();
  };
  return html`<div class="feedback">
    <div class="feedback-thumbs" role="group" aria-label=${t("ask.feedback")}>
      <button type="button" class="icon-button" aria-pressed=${vote?.is_correct === true ? "true" : "false"} disabled=${busy}
        aria-label=${t("ask.right")} title=${t("ask.right")} onClick=${() => give(true)}><${Icon} name="thumb-up" /></button>
      <button type="button" class="icon-button" aria-pressed=${vote?.is_correct === false ? "true" : "false"} disabled=${busy} ref=${down}
        aria-label=${t("ask.wrong")} title=${t("ask.wrong")} aria-expanded=${open ? "true" : "false"}
        onClick=${() => setOpen(!open)}><${Icon} name="thumb-down" /></button>
    </div>
    <p class="feedback-state" role="status">${vote && stateWords(vote)}
      ${vote?.item_id && html`${" "}<a href=${`#/knowledge?item=${encodeURIComponent(vote.item_id)}`}>${t("ask.see_item")}</a>`}</p>
    ${open && html`<${Correction} before=${vote?.correction ?? ""} busy=${busy} give=${give} close=${close} />`}
    ${error && html`<${Problem} error=${error} />`}
  </div>`;
}

/** @param {{before: string, busy: boolean, give: (right: boolean, correction?: string) => void, close: () => void}} props */
function Correction({ before, busy, give, close }) {
  const [text, setText] = useState(before);
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => box.current?.focus(), []);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    give(false, text.trim());
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && close();
  return html`<form class="correction" onSubmit=${send} onKeyDown=${onKeyDown}>
    <label>${t("ask.correction")}
      <textarea rows="3" maxlength=${LONGEST} ref=${box} value=${text} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea>
    </label>
    <p class="hint">${t("ask.correction_hint")}</p>
    <div class="correction-foot">
      <button type="button" class="button" onClick=${close}>${t("ask.cancel")}</button>
      <button type="submit" class="button primary" disabled=${busy}>${t("ask.send_wrong")}</button>
    </div>
  </form>`;
}

/** What became of a vote. @param {Vote} vote */
function stateWords(vote) {
  if (vote.state === "waiting") return t("ask.vote_waiting");
  if (vote.state === "failed") return t("ask.vote_failed", { why: said(vote.outcome) });
  const [kind = "", ...why] = vote.outcome.split(":");
  const key = `ask.vote_${kind.trim()}`;
  if (!known(key)) return said(vote.outcome);
  return why.length ? t("ask.vote_why", { words: t(key), why: said(vote.outcome).slice(kind.length + 1).trim() }) : t(key);
}
