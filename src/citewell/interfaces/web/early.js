// Runs before the page is drawn, so that it never flashes in the wrong theme or language.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem("citewell.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    var lang = localStorage.getItem("citewell.lang") || (/^zh/i.test(navigator.language) ? "zh" : "en");
    root.lang = lang === "zh" ? "zh-Hans" : "en";
  } catch (_) {
    root.lang = "en"; // a browser that keeps nothing
  }
})();
