// Who rates, which row, what they say: each change is sent at once. The address says where one is.
import { h, own, button } from "./dom.js";
import * as server from "./server.js";
import { card, levelOf, openQuestion } from "./ladder.js";
import { Viewer } from "./viewer.js";
import { calibrationPage } from "./calibration.js";

const EMPTY = { answers: {}, boxes: [], comment: "", saw_difference: false };
const COMMENT_MS = 500;
const HELP = [
  ["y n o s", "answer the open question: yes, no, one, several"],
  ["u", "take the last answer back"],
  ["Enter", "next row that is not rated"], ["j k", "next, previous row"],
  ["1 2 3", "side by side, slider, flip"], ["space", "flip between source and edited"], ["← →", "move the slider"],
  ["0 t + -", "whole picture, target, larger, smaller"],
  ["d", "show where the pictures differ"], ["x", "show or hide boxes"], ["b", "draw a box, where the row has none"],
  ["c", "comment"],
];

const ENDED = "The program has ended. Start it again and open the new address; what was saved is kept.";

const main = document.querySelector("main");
const at = (id) => document.getElementById(id);
let about, by, entries, number, viewer, layout = "side";
let change = () => {}; // keeps what the rater changed about the row at hand, and shows it
let sendComment = () => {}; // keeps what is typed and not yet kept
const unsaved = new Set(); // numbers of rows whose last save failed
let shown = 0; // counts what was shown, so that a late answer does not replace a newer page

const place = () => new URLSearchParams(location.hash.slice(1));
const go = (where) => { location.hash = new URLSearchParams(where).toString(); };
const entry = () => ({ ...EMPTY, ...entries[number] });
const isRated = (one) => one && about.ladders.every((ladder) => levelOf(ladder, one.answers[ladder.criterion] ?? {}) !== null);

async function route() {
  try { await follow(++shown); } catch (error) { tellLost(error instanceof TypeError ? ENDED : error.message); }
}

async function follow(mine) {
  sendComment();
  viewer?.close();
  viewer = null;
  const where = place();
  if (where.get("by") !== by) {
    by = where.get("by");
    entries = null;
    unsaved.clear();
  }
  for (const name of ["who", "progress", "count"]) at(name).hidden = !by;
  at("calibration").hidden = !by || !about.n_calibration;
  if (!by) {
    about = await server.about();
    if (mine === shown) main.replaceChildren(welcome());
    return;
  }
  at("who").replaceChildren(own(by));
  entries ??= await server.entriesOf(by);
  if (mine !== shown) return;
  tellProgress();
  if (where.get("view") === "calibration") await showCalibration(mine);
  else if (where.has("row")) await showRow(Number(where.get("row")), mine);
  else go({ by, row: nextOpen(-1) ?? 0 });
}

function welcome() {
  const input = h("input", { name: "rater", required: true, maxlength: 60, autocomplete: "off", autofocus: true });
  const form = h("form", { class: "welcome" },
    h("h1", {}, "Who rates?"),
    h("p", {}, "Your ratings are kept under this name. Take the same one to go on where you stopped."),
    about.raters.length > 0 && h("div", { class: "choices" }, about.raters.map((name) => button(own(name), () => go({ by: name })))),
    h("label", {}, about.raters.length ? "or another name" : "name", input),
    h("button", { class: "main" }, "Start"),
    h("p", { class: "fine" }, `${about.n_rows} rows, two questions each: was the instruction followed, and did the rest stay as it was? You see neither which model made an edit nor what others said.`));
  form.addEventListener("submit", (event) => { event.preventDefault(); go({ by: input.value.trim().replace(/\s+/g, " ") }); });
  return form;
}

async function showCalibration(mine) {
  const found = await server.calibration(by);
  if (mine !== shown) return;
  main.replaceChildren(calibrationPage(found, { by, ladders: about.ladders, nRows: about.n_calibration, onrow: (row) => go({ by, row }), onback: () => go({ by, row: nextOpen(-1) ?? 0 }) }));
}

async function showRow(wanted, mine) {
  number = Math.min(about.n_rows - 1, Math.max(0, Math.trunc(wanted) || 0));
  const row = await server.row(number);
  if (mine !== shown) return;
  main.replaceChildren(heading(row), row.pictures ? work(row) : h("p", { class: "fault" }, "The pictures of this row cannot be shown: it is left out."), steps());
  if (!row.pictures) entries[number] ??= { ...EMPTY, fault: true };
  window.scrollTo(0, 0);
  if (number + 1 < about.n_rows) server.prefetch(number + 1).catch(() => {});
}

function heading(row) {
  const facts = [row.type, row.targets.length && `targets: ${row.targets.join(", ")}`, row.source_caption && `source: ${row.source_caption}`, row.wanted_caption && `wanted: ${row.wanted_caption}`].filter(Boolean);
  return h("div", { class: "asked" },
    h("p", { class: "fine" }, `row ${number + 1} of ${about.n_rows}`, number < about.n_calibration && " · calibration", facts.map((fact) => [" · ", own(fact)])),
    h("h1", { class: "instruction", dir: "auto", tabindex: "0" }, row.instruction));
}

function work(row) {
  const panel = h("div", { class: "panel" });
  change = (changes) => {
    keep(changes);
    drawPanel(panel, row);
    viewer.drawBar();
    viewer.place();
  };
  viewer = new Viewer(number, row, {
    layout,
    drawn: () => entry().boxes,
    ondraw: (boxes) => change({ boxes }),
    ondifference: () => { if (!entry().saw_difference) keep({ saw_difference: true }); },
  });
  drawPanel(panel, row);
  return h("div", { class: "work" }, viewer.element, panel);
}

function drawPanel(panel, row) {
  const said = entry();
  const open = about.ladders.find((ladder) => openQuestion(ladder, said.answers[ladder.criterion] ?? {}));
  const cards = about.ladders.map((ladder) => card(ladder, said.answers[ladder.criterion] ?? {}, {
    active: ladder === open, type: row.type,
    onanswers: (answers) => change({ answers: { ...entry().answers, [ladder.criterion]: answers } }),
  }));
  const unfolded = [...panel.querySelectorAll("details")].map((one) => one.open);
  cards.forEach((one, n) => { one.querySelector("details").open = unfolded[n] ?? false; });
  const comment = panel.querySelector("textarea") ?? commentBox(said);
  const hadFocus = document.activeElement?.matches(".panel button");
  panel.replaceChildren(...cards, row.draw_boxes ? boxList(said.boxes) : "", h("label", { class: "comment" }, "Comment", comment));
  if (hadFocus) (panel.querySelector(".card.active [data-answer]") ?? at("go-on")).focus();
}

function commentBox(said) {
  let timer = null;
  const box = h("textarea", { rows: 2, maxlength: 2000, dir: "auto" });
  const mine = number;
  sendComment = () => {
    clearTimeout(timer);
    if (timer !== null) keep({ comment: box.value }, mine);
    timer = null;
  };
  box.value = said.comment;
  box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(sendComment, COMMENT_MS); });
  return box;
}

function boxList(boxes) {
  return h("section", { class: "boxes" }, h("h2", {}, "Target boxes"),
    boxes.length ? h("ul", {}, boxes.map((box, n) => h("li", {}, box.join(", "), button("×", () => change({ boxes: boxes.toSpliced(n, 1) }), { class: "link", "aria-label": `remove box ${n + 1}` }))))
      : h("p", { class: "fine" }, "This row has none. If you like, press ", h("kbd", {}, "b"), " and draw a box around each target."));
}

function steps() {
  return h("nav", { class: "steps", "aria-label": "Rows" },
    button("← previous", () => step(-1), { disabled: number === 0, title: "key k" }),
    button("next →", () => step(1), { disabled: number === about.n_rows - 1, title: "key j" }),
    button("Next unrated", goOn, { class: "main", id: "go-on", title: "key Enter" }));
}

function step(way) {
  const to = number + way;
  if (to >= 0 && to < about.n_rows) go({ by, row: to });
}

// The next row that waits for a rating, after `from` and then from the start.
function nextOpen(from) {
  const order = [...Array(about.n_rows).keys()].map((n) => (from + 1 + n) % about.n_rows);
  return order.find((n) => !isRated(entries[n]) && !entries[n]?.fault);
}

function goOn() {
  const calibrated = [...Array(about.n_calibration).keys()].every((n) => isRated(entries[n]) || entries[n]?.fault);
  const to = nextOpen(number);
  if (calibrated && number < about.n_calibration && (to === undefined || to >= about.n_calibration)) go({ by, view: "calibration" });
  else if (to !== undefined) go({ by, row: to });
  else at("saved").textContent = "all rows are rated";
}

let pending = 0;
async function keep(changes, row = number) {
  const said = { ...EMPTY, ...entries[row], ...changes };
  entries[row] = said;
  tellProgress();
  at("saved").textContent = "saving …";
  pending += 1;
  try {
    await server.save(row, { by, answers: said.answers, boxes: said.boxes, comment: said.comment, saw_difference: said.saw_difference });
    unsaved.delete(row);
    for (const other of unsaved) keep({}, other);
  } catch (error) {
    unsaved.add(row);
    tellLost(`Row ${row + 1} is not saved. ${error instanceof TypeError ? ENDED : error.message}`);
  }
  pending -= 1;
  if (pending === 0) at("saved").textContent = unsaved.size ? "not saved" : "saved";
  if (pending === 0 && !unsaved.size) at("lost").hidden = true;
}

function tellLost(message) {
  at("lost").hidden = false;
  at("lost").textContent = message;
}

function tellProgress() {
  const done = Object.values(entries).filter(isRated).length;
  at("count").textContent = `${done} of ${about.n_rows}`;
  const bar = at("progress");
  bar.setAttribute("aria-valuemax", about.n_rows);
  bar.setAttribute("aria-valuenow", done);
  bar.firstElementChild.style.width = `${(100 * done) / about.n_rows}%`;
}

function answerByKey(key) {
  const choice = [...document.querySelectorAll(".card.active [data-answer]")].find((one) => one.dataset.answer[0] === key);
  choice?.click();
  return Boolean(choice);
}

function takeBack() {
  const said = entry();
  const answered = about.ladders.filter(({ criterion }) => Object.keys(said.answers[criterion] ?? {}).length);
  const ladder = answered.at(-1);
  if (!ladder) return;
  const answers = { ...said.answers[ladder.criterion] };
  delete answers[ladder.questions.map(({ id }) => id).filter((id) => id in answers).at(-1)];
  change({ answers: { ...said.answers, [ladder.criterion]: answers } });
}

const KEYS = {
  u: takeBack, Enter: goOn, j: () => step(1), k: () => step(-1), c: () => document.querySelector(".comment textarea").focus(),
  1: () => viewer.show("side"), 2: () => viewer.show("slide"), 3: () => viewer.show("flip"), " ": () => viewer.flip(),
  ArrowLeft: () => viewer.slide(-1), ArrowRight: () => viewer.slide(1),
  0: () => viewer.whole(), t: () => viewer.target(), "+": () => viewer.zoom(1.5), "-": () => viewer.zoom(1 / 1.5),
  d: () => viewer.toggleDifference(), x: () => viewer.toggleMarks(), b: () => viewer.toggleDrawing(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.target.matches("textarea, input:not([type=range])")) { if (event.key === "Escape") event.target.blur(); return; }
  if (event.key === "?") { at("keys").click(); return; }
  if (!viewer && !["j", "k", "Enter"].includes(event.key)) return;
  if (["Enter", " "].includes(event.key) && event.target.matches("button, summary")) return; // its own key
  if (event.target.matches("[type=range]") && event.key.startsWith("Arrow")) return;
  const act = KEYS[event.key];
  if (answerByKey(event.key) || act) event.preventDefault();
  act?.();
  layout = viewer?.layout ?? layout;
}

function help() {
  at("help").replaceChildren(h("h2", {}, "Keys"), h("dl", {}, HELP.flatMap(([keys, means]) => [h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, means)])), h("form", { method: "dialog" }, h("button", {}, "Close")));
  at("help").showModal();
}

at("keys").addEventListener("click", help);
at("who").addEventListener("click", () => go({}));
at("calibration").addEventListener("click", () => go({ by, view: "calibration" }));
at("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
addEventListener("keydown", onKey);
addEventListener("hashchange", route);
addEventListener("pagehide", () => sendComment());
addEventListener("beforeunload", (event) => { if (pending || unsaved.size) event.preventDefault(); });
about = await server.about();
await route();
