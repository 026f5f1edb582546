// One row on a page of its own: pictures, verdicts, and how the judge came to them.
"use strict";

AJ.showRow = async (root, where) => {
  const line = AJ.lines.find((one) => one.id === where.id && one.run === where.run);
  if (!line) {
    root.replaceChildren(AJ.h("p", { class: "empty" }, "There is no such row in this report. ", AJ.h("a", { href: "#/rows" }, "All rows")));
    return;
  }
  let page;
  try { page = await AJ.page(line); } catch (error) {
    root.replaceChildren(AJ.h("p", { class: "empty" }, String(error.message)));
    return;
  }
  AJ.atViewer = AJ.viewer(line, page);
  root.replaceChildren(
    walk(line, where.set),
    AJ.h("h1", { class: "instruction", dir: "auto", tabindex: "-1" }, page.instruction),
    AJ.h("p", { class: "facts" }, factsOf(line, page)),
    AJ.atViewer.element,
    AJ.h("div", { class: "verdicts" }, AJ.about.criteria.map((criterion) => verdict(criterion, line, page))),
    others(line, where.set),
    files(line, page),
  );
};

// Back, before and next among the rows that the filters left.
function walk(line, set) {
  const found = AJ.select(set);
  const at = found.indexOf(line);
  const step = (to, text, title) => AJ.h("button", { type: "button", disabled: at < 0 || !found[to], title, id: text === "→" ? "next" : "before", "aria-label": title, onclick: () => { location.hash = AJ.query.row(found[to], set); } }, text);
  const page = Math.floor(Math.max(at, 0) / AJ.PAGE_ROWS) + 1;
  return AJ.h("nav", { class: "walk", "aria-label": "Rows" },
    AJ.h("a", { id: "back", href: AJ.query.rows(AJ.query.changed(set, { page: page > 1 ? page : null })) }, "all rows"),
    AJ.h("span", { class: "where" }, at < 0 ? "not among the filtered rows" : `${AJ.number(at + 1)} of ${AJ.number(found.length)}`),
    step(at - 1, "←", "row before (k)"), step(at + 1, "→", "next row (j)"));
}

function factsOf(line, page) {
  const words = [AJ.own(line.id), line.editor && AJ.own(line.editor), line.type, `${line.mode} mode`, line.area_pct !== null && `target covers ${AJ.percent(line.area_pct)} of the picture`, page.given.targets && AJ.own(`targets: ${page.given.targets.join(", ")}`)];
  if (AJ.about.runs.length > 1) words.push(AJ.own(line.run));
  return words.filter(Boolean).flatMap((word, i) => (i ? [" · ", word] : [word]));
}

function verdict(criterion, line, page) {
  const rubric = AJ.about.rubrics[criterion];
  const head = AJ.h("h3", {}, rubric.name, AJ.chip(criterion, line.fates[criterion]));
  const found = page.verdicts[criterion];
  if (!found) return AJ.h("section", { class: "verdict" }, head, AJ.h("p", {}, AJ.about.meanings[line.fates[criterion]?.status] ?? ""));
  const { record } = found;
  return AJ.h("section", { class: "verdict" }, head,
    record.reason && AJ.h("p", { class: "why" }, AJ.about.meanings[record.reason]),
    record.explanation && AJ.h("p", { dir: "auto" }, record.explanation),
    answers(record, rubric),
    perTarget(record, criterion),
    anomalies(record),
    AJ.prepared(page, found),
    loop(found),
    AJ.h("dl", { class: "plain" }, details(found, page, criterion)),
    AJ.h("p", {}, AJ.h("button", { type: "button", onclick: (event) => copy(event.target, { ...record, steps: found.steps }) }, "Copy as JSON")));
}

function answers(record, rubric) {
  if (!record.answers.length) return null;
  return AJ.h("ol", { class: "answers", "aria-label": "Answers on the way" }, record.answers.map(({ question, answer }) =>
    AJ.h("li", {}, AJ.h("details", {}, AJ.h("summary", {}, `${question.replaceAll("_", " ")}: `, AJ.h("b", {}, answer)), AJ.h("small", {}, rubric.questions[question] ?? "")))));
}

// Targets judged apart, or changes judged apart with what changed.
function perTarget(record, criterion) {
  const changes = record.per_target.some((one) => one.command);
  if (record.per_target.length < 2 && !changes) return null;
  return AJ.h("ul", {}, record.per_target.map((one) => AJ.h("li", {},
    changes ? changeOf(one) : AJ.chip(criterion, AJ.has(one.level) ? one : { status: "unscored" }),
    ` [${one.box.map((v) => AJ.number(v, 1)).join(", ")}]`)));
}

function changeOf(one) {
  const outside = one.inside_target === false ? ", outside the targets" : "";
  return [AJ.h("b", {}, one.label ?? "not judged"), AJ.own(` ${one.command} ${one.element}${outside}`)];
}

function anomalies(record) {
  if (!record.anomalies.length || record.per_target.some((one) => one.command)) return null; // told above
  return AJ.h("ul", {}, record.anomalies.map((one) => AJ.h("li", {}, AJ.own(one.what), one.box ? ` [${one.box.map((v) => AJ.number(v, 1)).join(", ")}]` : "")));
}

function details(found, page, criterion) {
  const { record } = found;
  const rows = [];
  const add = (name, value) => { if (value) rows.push(AJ.h("dt", {}, name), AJ.h("dd", {}, value)); };
  const { worst, best } = AJ.about.rubrics[criterion];
  for (const label of page.given.labels ?? []) {
    const level = label[criterion]; // of a key that only happens to be named so, anything
    if (typeof level === "number" && level >= worst && level <= best) add(`label by ${label.by ?? "unknown"}`, AJ.chip(criterion, { level }));
  }
  add("flags", record.flags.length && record.flags.map((flag) => [AJ.h("span", { class: "tag" }, flag), " "]));
  add("notes", record.notes.length && record.notes.map((note) => AJ.h("div", {}, AJ.own(note))));
  const votes = record.vote_levels, agreed = votes.filter((level) => level === record.level).length;
  const said = votes.map((level) => level ?? "none").join(", ");
  add("votes", votes.length > 1 && said + (AJ.has(record.level) ? ` (${agreed} of ${votes.length} agree)` : ""));
  add("round", found.round > 0 && String(found.round + 1));
  add("judge", [record.judge, record.judge_returned_model && record.judge_returned_model !== record.judge && ` (answered as ${record.judge_returned_model})`, record.endpoint && ` at ${record.endpoint}`].filter(Boolean).join(""));
  add("cost", costOf(record));
  add("mask margin", record.mask_margin_px !== null && `${AJ.number(record.mask_margin_px, 1)} px`);
  add("rubric", record.rubric_version);
  return rows;
}

function costOf(record) {
  const words = [`${AJ.number(record.seconds, 1)} s`];
  if (record.attempts) {
    words.push(`${record.attempts} requests`, `tokens ${record.tokens_in === null ? "unknown" : `${AJ.number(record.tokens_in)} in, ${AJ.number(record.tokens_out)} out`}`, record.usd === null ? "price unknown" : `$${record.usd.toFixed(4)}`);
  }
  return words.join(" · ");
}

function loop(found) {
  if (!found.steps.length) return null;
  const several = new Set(found.steps.map((step) => `${step.vote}/${step.look}`)).size > 1;
  return AJ.h("details", { open: true }, AJ.h("summary", {}, `The loop, step by step (${found.steps.length})`),
    AJ.h("ol", { class: "steps" }, found.steps.map((step) => AJ.h("li", {},
      several && AJ.h("div", { class: "look" }, `vote ${step.vote + 1}, `, step.about ? AJ.own(step.about) : `target ${step.look + 1}`),
      step.said && said(step.said),
      step.tools.map(tool)))));
}

// An answer in JSON is set out; anything else is shown as it came.
function said(text) {
  let data = null;
  try { data = JSON.parse(text); } catch { /* prose */ }
  return data && typeof data === "object" ? AJ.h("pre", {}, setOut(data)) : AJ.h("p", { dir: "auto" }, text);
}

// JSON on lines of its own, but a box on one.
function setOut(data) {
  return JSON.stringify(data, null, 1).replace(/\[\s+([-\d.e+,\s]+?)\s+\]/g, (_, numbers) => `[${numbers.replace(/\s+/g, " ")}]`);
}

function tool(one) {
  const args = Object.entries(one.args).map(([name, value]) => `${name}: ${Array.isArray(value) ? `[${value.map((v) => (typeof v === "number" ? AJ.number(v, 1) : v)).join(", ")}]` : value}`);
  return AJ.h("div", {},
    AJ.h("div", { class: "call" }, AJ.h("b", {}, one.tool), `(${args.join(", ")})`),
    AJ.h("div", {}, AJ.own(one.summary)),
    one.pictures.length > 0 && AJ.h("div", { class: "crops" }, one.pictures.map(crop)),
    AJ.h("details", {}, AJ.h("summary", {}, "reply in full"), AJ.h("pre", {}, one.reply)));
}

function crop({ url, label }) {
  if (!url) return AJ.h("figure", {}, AJ.h("figcaption", {}, `${label} (the picture is gone)`));
  const open = () => AJ.dialog(AJ.h("p", { class: "fine" }, label), AJ.h("img", { src: url, alt: label }));
  return AJ.h("figure", {}, AJ.h("img", { src: url, alt: label, loading: "lazy", tabindex: 0, role: "button", onclick: open, onkeydown: (event) => { if (event.key === "Enter") open(); } }), AJ.h("figcaption", {}, label));
}

// The same task given to other editing models, or to other judges.
function others(line, set) {
  const same = AJ.lines.filter((one) => one !== line && one.item === line.item);
  if (!same.length) return null;
  return AJ.h("div", {}, AJ.h("h2", {}, "The same task elsewhere"),
    AJ.h("ul", { class: "list" }, same.slice(0, 20).map((one) => AJ.h("li", {}, AJ.line(one, set)))),
    same.length > 20 && AJ.h("a", { href: AJ.query.rows(new URLSearchParams({ item: line.item })) }, `all ${same.length + 1}`));
}

function files(line, page) {
  return AJ.h("details", {}, AJ.h("summary", {}, "files"),
    AJ.h("dl", { class: "plain" }, Object.entries(page.pictures).flatMap(([name, picture]) => [AJ.h("dt", {}, name), AJ.h("dd", {}, AJ.h("code", {}, picture.file))])));
}

async function copy(button, data) {
  const text = JSON.stringify(data, null, 2);
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch {
    AJ.dialog(AJ.h("pre", {}, text)); // pages opened from disk may be refused the clipboard
  }
}
