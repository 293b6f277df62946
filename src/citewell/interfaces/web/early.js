// Runs before the page is drawn, so that it never flashes in the wrong theme or language.
(function () {
  var root = document.documentElement;
  function kept(/** @type {string} */ name) {
    try {
      return localStorage.getItem("citewell." + name);
    } catch (_) {
      return null; // a browser that keeps nothing
    }
  }
  var theme = kept("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  root.dataset.size = kept("size") || "normal";
  var lang = kept("lang") || navigator.language.toLowerCase().split("-")[0];
  if ((root.dataset.languages || "en").split(" ").indexOf(lang) < 0) lang = "en";
  root.lang = lang === "zh" ? "zh-Hans" : lang;
  var words = document.createElement("link"); // i18n.js waits for them
  Object.assign(words, { rel: "preload", as: "fetch", crossOrigin: "anonymous" });
  words.href = new URL("words/" + lang + ".json", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;
  document.head.append(words);
})();
