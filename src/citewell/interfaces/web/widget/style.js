/** How the chat element looks. Both themes have a contrast of 4.5 and more; what a page may change are the --citewell names. */

export const STYLE = `
:host(:not([data-inline])) { all: initial !important; display: block !important; position: fixed !important; inset: auto !important;
  inline-size: 0 !important; block-size: 0 !important; z-index: var(--citewell-z-index, 2147483000) !important; }
:host([data-inline]) { display: block; block-size: 34rem; min-inline-size: 0; }
:host([hidden]) { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
.root { --bg: var(--citewell-background, #ffffff); --ink: var(--citewell-text, #1c1f1e); --quiet: var(--citewell-quiet, #575e5b);
  --line: #cdd3d0; --strong: #7f8884; --soft: #f0f3f1; --warn: #785000; --warn-soft: #fdf1d3; --bad: #a3211a; --bad-soft: #fdebe9;
  --good: #17693a; --fill: var(--citewell-accent, #0d6b60); --on: #ffffff; --x: var(--citewell-offset-x, 20px); --y: var(--citewell-offset-y, 20px);
  color-scheme: light; color: var(--ink); direction: ltr; text-align: start; overflow-wrap: anywhere;
  font: 400 15px/1.6 var(--citewell-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif); }
.root.dark { --bg: var(--citewell-background, #1a1e1d); --ink: var(--citewell-text, #e7ebe9); --quiet: var(--citewell-quiet, #a4aeaa);
  --line: #3a4340; --strong: #8a9591; --soft: #262c2a; --warn: #f0c468; --warn-soft: #342a11; --bad: #ff9d95; --bad-soft: #3a1b19; --good: #82d8a0;
  color-scheme: dark; }
.root.inline { block-size: 100%; }
button, textarea { font: inherit; color: inherit; margin: 0; letter-spacing: inherit; }
button { cursor: pointer; border: 1px solid transparent; border-radius: 8px; background: none; padding: 0; min-inline-size: 24px; min-block-size: 24px; }
button:disabled { cursor: default; opacity: 0.6; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
svg { display: block; }
p, ul, ol, pre, blockquote { margin: 0 0 0.6em; }
ul, ol { padding-inline-start: 1.4em; }
a { color: inherit; text-underline-offset: 2px; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.bubble { position: fixed; inset-block-end: var(--y); inset-inline-end: var(--x); display: grid; place-items: center; inline-size: 56px; block-size: 56px;
  border-radius: 50%; background: var(--fill); color: var(--on); box-shadow: 0 2px 12px rgb(0 0 0 / 30%); transition: transform 120ms; }
.bubble:hover { transform: scale(1.06); }
.bubble:focus-visible { outline: 3px solid var(--on); box-shadow: 0 0 0 6px var(--fill); outline-offset: -1px; }
.left .bubble, .left .panel { inset-inline: var(--x) auto; }
.panel { position: fixed; inset-block-end: var(--y); inset-inline-end: var(--x); display: flex; flex-direction: column; overflow: hidden;
  inline-size: min(var(--citewell-width, 400px), calc(100vw - 2 * var(--x))); block-size: min(var(--citewell-height, 620px), calc(100vh - 2 * var(--y)));
  border: 1px solid var(--line); border-radius: var(--citewell-radius, 14px); background: var(--bg); box-shadow: 0 8px 36px rgb(0 0 0 / 28%); animation: rise 160ms ease-out; }
.inline .panel { position: static; inline-size: 100%; block-size: 100%; box-shadow: none; animation: none; }
@keyframes rise { from { opacity: 0; transform: translateY(12px); } }
[hidden] { display: none !important; }
header { display: flex; align-items: center; gap: 4px; padding: 10px 10px 10px 16px; background: var(--fill); color: var(--on); }
header h2 { flex: 1; margin: 0; font: inherit; font-weight: 620; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
header button { display: grid; place-items: center; inline-size: 36px; block-size: 36px; }
header button:focus-visible { outline-color: var(--on); outline-offset: -2px; }
header button:hover { border-color: currentColor; }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 14px 16px; scrollbar-width: thin; }
.log:focus-visible { outline-offset: -2px; }
.greeting { color: var(--quiet); }
.asked { inline-size: fit-content; max-inline-size: 88%; margin: 0 0 10px auto; padding: 7px 12px; border-radius: 14px 14px 4px; background: var(--fill); color: var(--on); white-space: pre-wrap; }
.turn { margin-block-end: 18px; }
.now, .proved, .small { display: flex; gap: 6px; align-items: center; margin: 0 0 6px; color: var(--quiet); font-size: 13px; }
.now::before { content: ""; flex: none; inline-size: 8px; block-size: 8px; border-radius: 50%; background: currentColor; animation: pulse 1.2s infinite alternate; }
@keyframes pulse { to { opacity: 0.25; } }
.draft { padding-inline-start: 10px; border-inline-start: 3px solid var(--line); color: var(--quiet); }
.heading { font-weight: 650; }
blockquote { padding-inline-start: 10px; border-inline-start: 3px solid var(--line); }
pre { overflow-x: auto; padding: 8px 10px; border-radius: 8px; background: var(--soft); white-space: pre; }
code { font: 0.88em/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.head { margin-block-end: 8px; padding: 8px 12px; border-radius: 8px; background: var(--warn-soft); }
.head strong { display: flex; gap: 6px; align-items: center; color: var(--warn); }
.head p, .problem p { margin: 2px 0 0; font-size: 14px; }
.problem { padding: 10px 12px; border-radius: 8px; background: var(--bad-soft); }
.problem strong { color: var(--bad); }
.cite { display: inline-block; min-inline-size: 24px; padding: 0 5px; margin-inline: 2px; border-color: var(--strong); border-radius: 6px; background: var(--soft); font-size: 12px; line-height: 22px; text-align: center; vertical-align: 1px; }
.cite:hover, .cite[aria-expanded="true"] { border-color: var(--ink); box-shadow: inset 0 0 0 1px var(--ink); }
.sources { margin: 6px 0; padding: 0; list-style: none; font-size: 13px; }
.sources button { display: flex; gap: 6px; inline-size: 100%; padding: 2px 4px; text-align: start; text-decoration: underline; text-underline-offset: 2px; }
.card { margin: 4px 0 8px; padding: 10px 12px; border: 1px solid var(--strong); border-radius: 8px; background: var(--soft); font-size: 14px; }
.card blockquote { max-block-size: 14em; overflow-y: auto; margin: 0 0 6px; }
.card p { margin: 0; }
.proved svg { flex: none; color: var(--good); }
details { margin: 0 0 6px; font-size: 13px; }
summary { cursor: pointer; min-block-size: 24px; color: var(--quiet); }
.doubts summary { color: var(--warn); }
.foot { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; }
.foot > button { display: grid; place-items: center; inline-size: 32px; block-size: 32px; color: var(--quiet); }
.foot > button:hover, .foot > button[aria-pressed="true"] { border-color: var(--strong); color: var(--ink); }
.foot > button[aria-pressed="true"] { background: var(--soft); }
.plain { padding: 3px 12px; border-color: var(--strong); }
.plain:hover { background: var(--soft); }
.correct { inline-size: 100%; margin-block-start: 6px; font-size: 14px; }
textarea { display: block; inline-size: 100%; padding: 7px 10px; border: 1px solid var(--strong); border-radius: 8px; background: var(--bg); resize: none; }
textarea::placeholder { color: var(--quiet); opacity: 1; }
.correct textarea { margin-block: 4px; }
.composer { display: flex; gap: 8px; align-items: flex-end; padding: 10px 12px; border-block-start: 1px solid var(--line); }
.composer textarea { flex: 1; min-block-size: 40px; max-block-size: 132px; field-sizing: content; }
.composer button { flex: none; display: grid; place-items: center; inline-size: 40px; block-size: 40px; background: var(--fill); color: var(--on); }
@media (max-width: 480px) {
  .panel:not(.inline .panel) { inset: 0; inline-size: 100%; block-size: var(--seen, 100dvh); border: 0; border-radius: 0; }
  textarea { font-size: 16px; }
}
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important; } }
@media (forced-colors: active) { .bubble, .asked, header { border: 1px solid; } }
@media print { .root:not(.inline) { display: none; } }
`;
