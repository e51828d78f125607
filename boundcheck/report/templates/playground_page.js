// The fields, sliders and answers of a playground; the numbers come from playground.js.
(function () {
"use strict";
const { compute, toNumber, show, short, relativeError, read, ratio, admits } = globalThis.boundcheckPlayground;
const find = (selector, inside) => (inside || document).querySelector(selector);
const data = JSON.parse(find("#playground-data").textContent), section = find("#playground"), texts = { ...data.start };
const rows = [...section.querySelectorAll(".play-row")], status = find("#play-status"), choice = find("#play-reading");
const own = new Set(); // the prescribed symbols that have a value of the reader
const reading = () => data.readings[Number(choice.value)];
// Where a slider begins and ends, and how its position becomes a value: logarithmic where there are no negative numbers.
function scale(name) {
  const symbol = data.symbols[name], number = text => text === null ? null : toNumber(ratio(read(text)));
  const start = number(data.start[name]), low = number(symbol.low), high = number(symbol.high);
  if (low === null || low < 0) {
    const reach = 10 * Math.max(1, Math.abs(start));
    return { from: low ?? start - reach, to: high ?? start + reach, value: v => v, place: v => v };
  }
  const middle = Math.log10(start || 1), end = high === null ? middle + 4 : Math.log10(high);
  const begin = Math.min(middle, end) - 4, first = symbol.integer ? Math.max(low, 1) : low;
  return { from: first ? Math.max(begin, Math.log10(first)) : begin, to: end, zero: !low && !symbol.lowOpen,
    value: v => 10 ** v, place: v => v > 0 ? Math.log10(v) : -Infinity };
}
function slide(name, position) { // the text of a slider's position
  const symbol = data.symbols[name], s = scale(name);
  if (!position && s.zero) return "0";
  const value = s.value(s.from + (s.to - s.from) * position / 400);
  const text = symbol.integer ? String(BigInt(Math.round(value))) : short(value, 3);
  const inner = place => short(s.value(s.from + (s.to - s.from) * place / 400), 4); // next to an end that is excluded
  const tried = position < 200 ? [text, symbol.low, inner(1)] : [text, symbol.high, inner(399)];
  return tried.find(t => t !== null && admits(symbol, read(t))) ?? text;
}
function position(name) {
  const s = scale(name), value = read(texts[name]);
  if (!value) return 0;
  return Math.round(400 * Math.min(1, Math.max(0, (s.place(toNumber(ratio(value))) - s.from) / (s.to - s.from || 1))));
}
function line(term, ...parts) { // the last word of a term may be a symbol, which stands as its letter
  const dt = document.createElement("dt"), dd = document.createElement("dd"), [first, name] = term.split(" ");
  const row = rows.find(r => r.dataset.name === name);
  dt.append(row ? first + " " : term, row ? find("math", row).cloneNode(true) : "");
  dd.append(...parts);
  status.append(dt, dd);
}
function word(text, kind) {
  const span = document.createElement("span");
  span.textContent = text;
  span.className = kind;
  return span;
}
function use(name, value) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "use";
  button.setAttribute("aria-label", `use ${value} for ${name}`);
  button.onclick = () => { texts[name] = value; if (reading().prescribed.includes(name)) own.delete(name); fill(); find("#play-" + name).focus(); };
  const holder = word(value + " ", "");
  holder.className = "controls";
  holder.append(button);
  return holder;
}
const SCOPE = { true: ["✓ in scope", "o-holds word"], false: ["✗ out of scope", "o-violated word"], edge: ["? edge: ask `scope`", "o-undecided word"] };
const ROW = { true: ["✓ holds", "o-holds"], false: ["✗ fails", "o-violated"], edge: ["? edge", "o-undecided"] };
const LIMITS = { none: "none: no value is allowed at these constants", unlimited: "no condition limits it" };
function update() {
  const now = reading();
  let found = compute(data, now, texts);
  for (const name of now.prescribed) { // a prescribed value follows its formula until a reader gives another
    const value = own.has(name) || !found.largest ? "none" : found.largest[name];
    if (value in LIMITS || value === texts[name]) continue;
    texts[name] = value;
    place(rows.find(row => row.dataset.name === name));
    found = compute(data, now, texts);
  }
  status.replaceChildren();
  for (const row of rows) {
    find("input", row).setAttribute("aria-invalid", String(found.name === row.dataset.name));
    row.hidden = !now.symbols.includes(row.dataset.name);
  }
  for (const item of section.querySelectorAll(".play-conditions li")) {
    const i = now.relations.findIndex(r => r.row === item.dataset.row), mark = find("strong", item);
    item.hidden = i < 0;
    item.tabIndex = item.scrollWidth > item.clientWidth ? 0 : -1;
    [mark.textContent, mark.className] = found.rows && i >= 0 ? ROW[found.rows[i]] : ["", ""];
  }
  if (found.error) return line("Bound", word("none", "value"), document.createElement("br"), found.error);
  if (found.undefined) line("Bound", word("none", "value"), `: ${found.undefined}.`);
  else {
    const error = relativeError(found.ball);
    line("Bound", word(error === Infinity ? "not computed" : show(found.ball, 15), "value"));
    if (error > 1e-12) line("Error estimate", error === Infinity ? "unlimited: ask `evaluate`"
      : `at most a relative ${short(error, 2)}; \`evaluate\` is exact`);
  }
  line("Scope", word(...SCOPE[found.scope]));
  if (found.scope === "edge") line("", "A condition is within a relative 1e-12 of its edge. ", word(`boundcheck scope ${now.id} ${sets(now)}`, "mono small"));
  line("Vacuous", found.vacuous === null || found.undefined ? "no trivial value to compare with" : found.vacuous === "edge"
    ? "? edge: ask `evaluate`" : found.vacuous ? word("○ yes: not below the trivial value", "o-vacuous") : "no: below the trivial value");
  for (const name of now.steps) line("Largest " + name, found.largest[name] in LIMITS ? LIMITS[found.largest[name]] : use(name, found.largest[name]));
  for (const name of now.absent) line("Largest " + name, "not shown: its conditions are not known to leave an interval");
  for (const name of now.prescribed) line("Prescribed " + name, found.largest[name] === "none" ? "none" : use(name, found.largest[name]));
}
let waiting = false;
function later() { // once a frame, however fast a slider moves
  find("#play-copy").hidden = true;
  find(".play-copies output").textContent = "";
  if (!waiting) requestAnimationFrame(() => { waiting = false; update(); });
  waiting = true;
}
function place(row) {
  const [field, slider] = row.querySelectorAll("input"), name = row.dataset.name;
  field.value = texts[name];
  slider.value = position(name);
  slider.setAttribute("aria-valuetext", texts[name]);
}
function fill() {
  rows.forEach(place);
  later();
}
const sets = now => now.symbols.map(name => `--set ${name}=${texts[name].replace(/\s/g, "")}`).join(" ");
const COPIES = {
  Python: now => `import boundcheck as bc\n\ns = bc.statement("${now.id}")\nprint(s.evaluate(${now.symbols.map(n => `${n}="${texts[n].trim()}"`).join(", ")}))`,
  TOML: now => { // a sweep of one row, which takes more values of its last constant
    const fixed = now.symbols.slice(0, -1).map(n => `${n} = "${texts[n].trim()}"`).join(", "), last = now.symbols.at(-1);
    return `kind = "bound"\nstatement = "${now.id}"\nconstants = { ${fixed} }\n\n[grid]\nconstants.${last} = ["${texts[last].trim()}"]\n`;
  },
  command: now => `boundcheck evaluate ${now.id} ${sets(now)}`,
  BibTeX: now => now.bibtex, LaTeX: now => now.latex,
};
section.addEventListener("click", event => {
  const form = event.target.dataset.copy;
  if (!form) return;
  const box = find("#play-copy"), told = find(".play-copies output");
  box.textContent = COPIES[form](reading());
  box.hidden = false;
  getSelection().selectAllChildren(box);
  const done = works => { told.textContent = works ? `${form} copied` : `${form} selected below: copy it with the keyboard`; };
  if (navigator.clipboard) navigator.clipboard.writeText(box.textContent).then(() => done(true), () => done(document.execCommand("copy")));
  else done(document.execCommand("copy"));
});
for (const row of rows) {
  const [field, slider] = row.querySelectorAll("input"), name = row.dataset.name;
  const changed = text => { texts[name] = text; own.add(name); later(); };
  field.oninput = () => { changed(field.value); slider.value = position(name); };
  slider.oninput = () => { changed(slide(name, Number(slider.value))); place(row); };
}
choice.onchange = later;
find("details", section).open = innerWidth > 640; // a long form, folded up on a phone
find("#play-reset").onclick = () => { Object.assign(texts, data.start); own.clear(); fill(); };
section.hidden = false;
fill();
update();
})();
