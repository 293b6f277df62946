/**
 * Who may sign in, for admins: users, their roles and their tokens. The one rule: a token is shown once, in a dialog that has to be
 * closed, and stands nowhere in the page afterwards.
 */
import { del, get, patch, post } from "../api.js";
import { t } from "../i18n.js";
import { me } from "../state.js";
import { ago, ask, Badge, Busy, Button, Check, Dialog, Field, FormDialog, Icon, Menu, Problem, Select, time, toast } from "../ui/index.js";
import { html, useEffect, useState } from "../ui/html.js";
import { placeOf, Place } from "./place.js";

/**
 * @typedef {{token_id: string, name: string, scope: string, bound: string, created_at: number, used_at: number, expires: number}} Token
 * @typedef {{user_id: string, role: string, created_at: number, tokens: number, used_at: number, known: Token[]}} User
 * @typedef {{user_id: string, token: string, info: Token}} Shown
 */

const ROLES = ["reader", "editor", "reviewer", "admin"];

export function Users() {
  const [users, setUsers] = useState(/** @type {User[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [adding, setAdding] = useState(false);
  const [forWhom, setForWhom] = useState(/** @type {User | null} */ (null));
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const load = () => get("/users").then((found) => (setUsers(found.users), setError(null)), setError);
  useEffect(() => void load(), []);
  /** A change, then the list as it is now. @param {() => Promise<unknown>} act @param {string} told */
  const does = async (act, told) => {
    try {
      await act();
      if (told) toast(told, "good");
    } catch (failed) {
      toast(failed);
    }
    await load();
  };
  const made = (/** @type {Shown | null} */ token) => {
    setAdding(false);
    setForWhom(null);
    setShown(token);
    void load();
  };
  return html`<section class="card settings-users" aria-labelledby="settings-users">
    <div class="card-head"><h2 id="settings-users">${t("settings.users")}</h2>
      <${Button} small icon="plus" onClick=${() => setAdding(true)}>${t("settings.add_user")}<//></div>
    <${Problem} error=${error} retry=${load} />
    ${!users && !error && html`<${Busy} />`}
    <ul class="users">${users?.map((user) => html`<${Row} key=${user.user_id} user=${user} does=${does} onToken=${() => setForWhom(user)} />`)}</ul>
    ${adding && html`<${NewUser} close=${made} />`}
    ${forWhom && html`<${NewToken} user=${forWhom} close=${made} />`}
    ${shown && html`<${Once} shown=${shown} close=${() => setShown(null)} />`}
  </section>`;
}

/** @param {{user: User, does: (act: () => Promise<unknown>, told: string) => Promise<void>, onToken: () => void}} props */
function Row({ user, does, onToken }) {
  const name = user.user_id;
  const path = `/users/${encodeURIComponent(name)}`;
  const myself = me.value?.user_id === name;
  const role = async (/** @type {string} */ next) => {
    const sure = !myself || (await ask({ title: t("settings.own_role"), text: t("settings.own_role_text"), action: t("settings.change"), danger: true }));
    await does(() => (sure ? patch(path, { role: next }) : Promise.resolve()), sure ? t("settings.role_changed", { name, role: t(`settings.short_${next}`) }) : "");
    if (sure && myself) me.value = await get("/me").catch(() => me.value);
  };
  const remove = async () => {
    const text = t("settings.remove_text", { name });
    if (await ask({ title: t("settings.remove_user"), text, action: t("settings.remove"), danger: true })) await does(() => del(path), t("settings.removed", { name }));
  };
  const revoke = async (/** @type {Token | null} */ token) => {
    const text = t("settings.revoke_text", { name });
    if (!(await ask({ title: token ? t("settings.revoke_one", { token: token.name }) : t("settings.revoke_all"), text, action: t("settings.revoke"), danger: true }))) return;
    await does(() => del(`${path}/tokens${token ? `/${token.token_id}` : ""}`), t("settings.revoked"));
  };
  return html`<li class="user">
    <div class="user-row">
      <strong>${name}${myself && html` <${Badge} kind="info">${t("settings.yourself")}<//>`}</strong>
      <${Select} label=${t("settings.role_of", { name })} hidden value=${user.role} onChange=${role}
        options=${ROLES.map((value) => ({ value, label: t(`settings.short_${value}`) }))} />
      <${Menu} label=${t("settings.user_menu", { name })} items=${[
        { label: t("settings.new_token"), icon: "plus", action: onToken },
        user.known.length > 0 && { label: t("settings.revoke_all"), icon: "close", danger: true, action: () => revoke(null) },
        { label: t("settings.remove"), icon: "trash", danger: true, action: remove },
      ]} />
    </div>
    <details><summary>${t("settings.tokens", { n: user.tokens })} · ${user.used_at ? t("settings.used", { when: ago(user.used_at) }) : t("settings.never_used")}</summary>
      <ul class="tokens">${user.known.map((token) => html`<li key=${token.token_id}>
        <span><strong>${token.name}</strong> <code>${token.token_id}</code>${token.scope === "widget" && html` <${Badge}>${asks(token)}<//>`}</span>
        <span class="hint">${facts(token)}</span>
        <${Button} small kind="quiet" icon="close" aria-label=${t("settings.revoke_one", { token: token.name })} onClick=${() => revoke(token)}>${t("settings.revoke")}<//>
      </li>`)}</ul>
      ${!user.known.length && html`<p class="hint">${t("settings.no_tokens")}</p>`}
    </details>
  </li>`;
}

/** What a token of a page may ask. @param {Token} token */
function asks({ bound }) {
  const { kind, name } = placeOf(bound);
  return bound ? t(`settings.for_widget_${kind}`, { name }) : t("settings.for_widget");
}

/** @param {Token} token */
function facts({ created_at: made, used_at: used, expires }) {
  const over = expires > 0 && expires * 1000 <= Date.now();
  const until = expires ? t(over ? "settings.token_over" : "settings.token_until", { when: time(expires) }) : t("settings.token_lasting");
  return [t("settings.token_made", { when: time(made) }), used ? t("settings.used", { when: ago(used) }) : t("settings.never_used"), until].join(" · ");
}

/** @param {{value: string, set: (value: string) => void}} props */
function Days({ value, set }) {
  return html`<${Field} label=${t("settings.days")} hint=${t("settings.days_hint")} type="number" min="1" max="36500" step="1" value=${value}
    onInput=${(/** @type {any} */ event) => set(event.currentTarget.value)} />`;
}

/** @param {{close: (shown: Shown | null) => void}} props */
function NewUser({ close }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("reader");
  const [days, setDays] = useState("");
  const send = async () => {
    const made = await post("/users", { user_id: name.trim(), role, ...(days ? { days: Number(days) } : {}) });
    return { user_id: made.user.user_id, token: made.token, info: made.info };
  };
  return html`<${FormDialog} action=${t("settings.make")} title=${t("settings.add_user")} send=${send} close=${close}>
    <${Field} label=${t("settings.name")} hint=${t("settings.new_name_hint")} required autofocus maxlength="64" spellcheck=${false} value=${name}
      onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
    <${Select} label=${t("settings.role")} value=${role} onChange=${setRole} options=${ROLES.map((value) => ({ value, label: t(`settings.role_${value}`) }))} />
    <${Days} value=${days} set=${setDays} /><//>`;
}

/** @param {{user: User, close: (shown: Shown | null) => void}} props */
function NewToken({ user, close }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [place, setPlace] = useState(/** @type {string | null} */ (null)); // what a page may ask with it; null: it is for no page
  const send = async () => {
    const bound = placeOf(place ?? "");
    const wish = { name: name.trim(), ...(days ? { days: Number(days) } : {}), ...(place ? { [bound.kind]: bound.name } : {}) };
    const made = await post(`/users/${encodeURIComponent(user.user_id)}/tokens`, wish);
    return { user_id: user.user_id, token: made.token, info: made.info };
  };
  return html`<${FormDialog} action=${t("settings.make")} title=${t("settings.token_for", { name: user.user_id })} send=${send} close=${close} ready=${place !== ""}>
    <${Field} label=${t("settings.token_name")} hint=${t("settings.token_name_hint")} maxlength="64" autofocus value=${name}
      onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
    <${Days} value=${days} set=${setDays} />
    ${user.role === "reader"
      ? html`<${Check} label=${t("settings.widget_token")} hint=${t("settings.widget_hint")} checked=${place !== null}
          onChange=${(/** @type {boolean} */ on) => setPlace(on ? "" : null)} />`
      : html`<p class="hint">${t("settings.widget_readers")}</p>`}
    ${place !== null && html`<${Place} value=${place} onChange=${setPlace} />`}<//>`;
}

/** @param {{shown: Shown, close: () => void}} props */
function Once({ shown, close }) {
  const copy = () => navigator.clipboard.writeText(shown.token).then(() => toast(t("data.copied"), "good"), () => toast(t("data.copy_failed"), "problem"));
  const actions = html`<${Button} icon="copy" onClick=${copy}>${t("data.copy")}<//><${Button} kind="primary" onClick=${close}>${t("settings.token_noted")}<//>`;
  return html`<${Dialog} title=${t("settings.token_of", { name: shown.user_id })} onClose=${close} actions=${actions}>
    <p><${Icon} name="warning" size=${18} /> ${t("settings.token_once")}</p>
    <p><code class="token-once" tabindex="0">${shown.token}</code></p><//>`;
}
