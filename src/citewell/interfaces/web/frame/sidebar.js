/** Conversations first, the parts of the page below them, and the switches at the foot. On phones it is a drawer behind a button. */

import { changeLanguage, nameLanguage, t } from "../i18n.js";
import { LANGUAGES, lang, me, theme } from "../state.js";
import { Conversations } from "../talks/conversations.js";
import { useBack } from "../ui/back.js";
import { IconButton } from "../ui/button.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui/html.js";
import { Icon, Sign } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { VIEWS } from "../views/index.js";
import { here } from "./view.js";

const NARROW = matchMedia("(max-width: 56rem)");
const THEMES = /** @type {const} */ (["auto", "light", "dark"]);
const SIGNS = { auto: "contrast", light: "sun", dark: "moon" };

/** Whether the sidebar is a drawer now. */
export function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const changed = () => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", changed);
    return () => NARROW.removeEventListener("change", changed);
  }, []);
  return narrow;
}

export function Sidebar() {
  const open = here();
  const around = open?.inside ?? open?.path;
  return html`<${Brand} />
    <div class="slot"><${Conversations} /></div>
    <nav aria-label=${t("frame.navigation")}>
      <ul class="parts">
        ${VIEWS.filter((row) => !row.hidden && (!row.inside || row.inside === around)).map(
          (row) => html`<li key=${row.path} class=${row.inside ? "room" : ""}>
            <a href=${`#/${row.path}`} aria-current=${row === open ? "page" : undefined}>
              <${Icon} name=${row.icon} size=${row.inside ? 18 : undefined} /><span>${t(row.label)}</span>
            </a>
          </li>`,
        )}
      </ul>
    </nav>
    <${Foot} />`;
}

function Brand() {
  return html`<a class="brand" href="#/ask">
    <${Sign} size=${28} /><span>Citewell</span>
  </a>`;
}

function Foot() {
  const user = me.value?.user_id ?? "";
  return html`<div class="foot">
    <a class="who" href="#/settings" title=${t("frame.signed_in_as", { user })}><${Icon} name="user" size=${18} /><span>${user}</span></a>
    <${Menu} up icon="language" label=${t("frame.language")} items=${LANGUAGES.map((value) => ({
      label: nameLanguage(value),
      checked: lang.value === value,
      action: () => changeLanguage(value),
    }))} />
    <${Menu} up icon=${SIGNS[theme.value]} label=${t("frame.theme")} items=${THEMES.map((value) => ({
      label: t(`frame.theme_${value}`),
      icon: SIGNS[value],
      checked: theme.value === value,
      action: () => (theme.value = value),
    }))} />
  </div>`;
}

/** @param {{open: () => void}} props */
export function TopBar({ open }) {
  const row = here();
  return html`<header class="top-bar">
    <${IconButton} name="menu" label=${t("frame.menu")} aria-haspopup="dialog" onClick=${open} />
    <span class="where" aria-hidden="true">${row ? t(row.label) : "Citewell"}</span>
    <a class="home" href="#/ask" aria-label="Citewell"><${Sign} size=${26} /></a>
  </header>`;
}

/** @param {{open: boolean, onClose: () => void}} props */
export function Drawer({ open, onClose }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const dialog = box.current;
    if (!dialog || !open) return;
    dialog.showModal();
    return () => dialog.close();
  }, [open]);
  useBack(open, onClose);
  /** @param {MouseEvent} event a click beside it, or on a link in it (also the one that is open already) */
  const pressed = (event) => {
    const target = /** @type {Element} */ (event.target);
    if (target === box.current || target.closest("a")) onClose();
  };
  return html`<dialog class="drawer" ref=${box} aria-label=${t("frame.sidebar")} onClose=${onClose} onClick=${pressed}>
    ${open && html`<div class="sidebar"><${Sidebar} /><${IconButton} class="shut" name="close" label=${t("frame.close")} onClick=${onClose} /></div>`}
  </dialog>`;
}
