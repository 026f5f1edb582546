// The rows: a line each with its pictures, fates and labels.
"use strict";

AJ.PAGE_ROWS = 50;
const tileNames = ["source", "edited", "target before", "target after"];

AJ.showList = (root, set) => {
  const found = AJ.select(set);
  const pages = Math.max(1, Math.ceil(found.length / AJ.PAGE_ROWS));
  const page = Math.min(Math.max(1, Number(set.get("page")) || 1), pages);
  const shown = found.slice((page - 1) * AJ.PAGE_ROWS, page * AJ.PAGE_ROWS);
  const typing = document.activeElement?.id === "search" ? document.activeElement.selectionEnd : null;
  root.replaceChildren(...[
    AJ.filterBar(set),
    AJ.h("div", { class: "found" },
      AJ.h("span", { role: "status" }, `${AJ.number(found.length)} of ${AJ.number(AJ.lines.length)} rows`),
      [...set.keys()].some((key) => !["page", "sort"].includes(key)) && AJ.h("a", { href: "#/rows" }, "clear all filters")),
    shown.length
      ? [heads(), AJ.h("ol", { class: "list" }, shown.map((line) => AJ.h("li", {}, AJ.line(line, set))))]
      : [AJ.h("p", { class: "empty" }, "No row matches these filters.")],
    pager(set, page, pages),
  ].flat().filter(Boolean));
  if (typing !== null) {
    const search = document.getElementById("search");
    search.focus();
    search.setSelectionRange(typing, typing);
  }
};

function heads() {
  return AJ.h("div", { class: "heads", "aria-hidden": "true" }, AJ.h("div", { class: "tiles" }, tileNames.map((name) => AJ.h("span", {}, name))));
}

AJ.line = (line, set) => AJ.h("a", { class: "line", href: AJ.query.row(line, set) },
  AJ.h("div", { class: "tiles" }, tileNames.map((name, i) => tile(line, name, i))),
  AJ.h("div", { class: "what" },
    AJ.h("p", { class: "said", dir: "auto" }, line.instruction),
    AJ.h("p", { class: "meta" }, metaOf(line)),
    line.flags.map((flag) => [AJ.h("span", { class: flag.startsWith("claims_") ? "tag alert" : "tag" }, flag), " "])),
  AJ.h("div", { class: "fates" }, AJ.about.criteria.map((criterion) => AJ.h("div", { class: "fate" },
    AJ.h("b", {}, criterion),
    AJ.h("span", {}, AJ.chip(criterion, line.fates[criterion])), human(line, criterion)))));

function tile(line, name, column) {
  const style = line.thumb ? { backgroundImage: `url("${line.thumb}")`, backgroundPosition: `${(column * 100) / 3}% 0` } : {};
  return AJ.h("div", { class: "tile", style, title: name });
}

function metaOf(line) {
  const words = [AJ.own(line.id), line.editor && AJ.own(line.editor), line.type, `${line.mode} mode`, line.area_pct !== null && `target ${AJ.percent(line.area_pct)}`];
  if (AJ.about.runs.length > 1) words.push(AJ.own(line.run));
  return words.filter(Boolean).flatMap((word, i) => (i ? [" · ", word] : [word]));
}

function human(line, criterion) {
  const level = line.human[criterion];
  return AJ.has(level) ? AJ.h("small", {}, `label ${AJ.number(level, 1)}`) : null;
}

function pager(set, page, pages) {
  if (pages < 2) return null;
  const link = (to, text) => (to < 1 || to > pages ? AJ.h("button", { disabled: true }, text)
    : AJ.h("button", { type: "button", onclick: () => { location.hash = AJ.query.rows(AJ.query.changed(set, { page: to })); } }, text));
  return AJ.h("nav", { class: "pager", "aria-label": "Pages" }, link(page - 1, "← before"), `page ${page} of ${pages}`, link(page + 1, "next →"));
}
