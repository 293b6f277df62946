/**
 * A stranger's HTML written anew with listed tags and attributes only, before any parser of the browser sees it.
 * The one rule: this is not what makes it safe (`snapshot.js` is, after it); it keeps styles and handlers away from the browser,
 * which tells of each that its policy has blocked. It reads each character once, whatever the markup.
 */

// what stands between such tags is no markup and never shown
const RAW = new Set(["script", "style", "iframe", "noembed", "noframes", "noscript", "textarea", "title", "template"]);
// parts of a page are none of the page around it
const PARTS = new Set(["main", "header", "footer", "nav", "aside", "section", "article", "hgroup", "search"]);
const NAME = /[a-zA-Z][^\s/>]*/y;
const SPACE = /[\s/]*/y;
const ATTRIBUTE = /[^\s/>=][^\s/>=]*/y;
const VALUE = /\s*=\s*/y;
const WORD = /[^\s>]*/y;

/**
 * @param {string} markup
 * @param {ReadonlySet<string>} tags
 * @param {ReadonlySet<string>} attributes
 */
export function plainMarkup(markup, tags, attributes) {
  /** @type {string[]} */
  const out = [];
  let at = 0;
  while (at < markup.length) {
    const open = markup.indexOf("<", at);
    if (open < 0) break;
    out.push(markup.slice(at, open));
    const next = markup.charCodeAt(open + 1) | 32; // letters in lower case, and no other sign becomes one
    if (markup[open + 1] === "!" || markup[open + 1] === "?") at = afterRemark(markup, open);
    else if (markup[open + 1] === "/") at = endTag(markup, open, tags, out);
    else if (next >= 97 && next <= 122) at = startTag(markup, open, tags, attributes, out);
    else {
      out.push("&lt;");
      at = open + 1;
    }
  }
  out.push(markup.slice(at).replace(/</g, "&lt;"));
  return out.join("");
}

/** The end of a comment, a doctype, a processing instruction. @param {string} markup @param {number} open */
function afterRemark(markup, open) {
  const remark = markup.startsWith("<!--", open);
  const end = remark ? markup.indexOf("-->", open + 4) : markup.indexOf(">", open);
  return end < 0 ? markup.length : end + (remark ? 3 : 1);
}

/** @param {string} markup @param {number} open @param {ReadonlySet<string>} tags @param {string[]} out */
function endTag(markup, open, tags, out) {
  const name = taken(NAME, markup, open + 2).toLowerCase();
  const end = markup.indexOf(">", open);
  if (end < 0) return markup.length;
  if (PARTS.has(name)) out.push("</div>");
  else if (tags.has(name)) out.push(`</${name}>`);
  return end + 1;
}

/** @param {string} markup @param {number} open @param {ReadonlySet<string>} tags @param {ReadonlySet<string>} attributes @param {string[]} out */
function startTag(markup, open, tags, attributes, out) {
  const name = taken(NAME, markup, open + 1);
  const tag = name.toLowerCase();
  let at = open + 1 + name.length;
  let kept = "";
  for (;;) {
    at += taken(SPACE, markup, at).length;
    if (at >= markup.length) return markup.length; // a tag that never ends is none
    if (markup[at] === ">") break;
    if (markup[at] === "=") {
      at += 1;
      continue;
    }
    const attribute = taken(ATTRIBUTE, markup, at);
    at += attribute.length;
    const { value, end } = valueAt(markup, at);
    at = end;
    const known = attribute.toLowerCase();
    if (attributes.has(known)) kept += ` ${known}="${value.replace(/"/g, "&quot;").replace(/</g, "&lt;")}"`;
  }
  if (RAW.has(tag)) return afterRaw(markup, at + 1, tag);
  if (PARTS.has(tag)) out.push(`<div${kept}>`);
  else if (tags.has(tag)) out.push(`<${tag}${kept}>`);
  return at + 1;
}

/** @param {string} markup @param {number} at */
function valueAt(markup, at) {
  const sign = taken(VALUE, markup, at);
  if (!sign) return { value: "", end: at };
  const start = at + sign.length;
  const quote = markup[start];
  if (quote !== '"' && quote !== "'") {
    const value = taken(WORD, markup, start);
    return { value, end: start + value.length };
  }
  const end = markup.indexOf(quote, start + 1);
  return end < 0 ? { value: "", end: markup.length } : { value: markup.slice(start + 1, end), end: end + 1 };
}

/** Behind the end of a tag that holds no markup. @param {string} markup @param {number} from @param {string} tag */
function afterRaw(markup, from, tag) {
  const close = new RegExp(`</${tag}[\\s/>]`, "gi");
  close.lastIndex = from;
  const found = close.exec(markup);
  if (!found) return markup.length;
  const end = markup.indexOf(">", found.index);
  return end < 0 ? markup.length : end + 1;
}

/** @param {RegExp} pattern sticky @param {string} text @param {number} at */
function taken(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
