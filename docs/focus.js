// Boxes that scroll are reached by the keyboard: wide tables, which the theme wraps, and wide blocks of code.
function focusable() {
  for (const box of document.querySelectorAll(`.md-typeset__scrollwrap, .md-typeset pre > code, .cell [style*="overflow-x"]`)) box.tabIndex = 0;
}
if (window.document$) window.document$.subscribe(() => setTimeout(focusable));
else document.addEventListener("DOMContentLoaded", focusable);
