// The calibration round: what the raters said on the same rows, side by side, disputed rows first.
import { h, own, button, chip } from "./dom.js";
import { picture } from "./server.js";

const spread = (said, criterion) => {
  const levels = Object.values(said).map(({ levels: of }) => of[criterion]).filter(Boolean);
  return levels.length ? Math.max(...levels) - Math.min(...levels) : 0;
};

export function calibrationPage({ rows, agreement }, { by, ladders, nRows, onrow, onback }) {
  const apart = (row) => ladders.reduce((sum, { criterion }) => sum + spread(row.said, criterion), 0);
  const ordered = [...rows].sort((a, b) => apart(b) - apart(a) || a.number - b.number);
  const raters = new Set(rows.flatMap(({ said }) => Object.keys(said)));
  return h("div", { class: "calibration" },
    h("h1", {}, "Calibration"),
    h("p", {}, rows.length < nRows ? `You have rated ${rows.length} of the ${nRows} rows of this round; the others stay hidden until you have.` : `All ${nRows} rows of this round, as ${raters.size} ${raters.size === 1 ? "person" : "people"} rated them.`,
      raters.size < 2 && rows.length ? " Nobody else has rated them yet." : " Talk over what differs, and change a rating where you were wrong."),
    h("div", { class: "agreement" }, ladders.map((ladder) => agreementOf(ladder, agreement[ladder.criterion]))),
    h("p", {}, button("Go on rating", onback, { class: "main" })),
    h("ol", { class: "disputes" }, ordered.map((row) => dispute(row, { by, ladders, onrow }))));
}

function agreementOf(ladder, { alpha, pairs }) {
  if (!pairs.length) return null;
  return h("section", {}, h("h2", {}, ladder.name),
    h("p", {}, "Krippendorff's alpha: ", h("b", {}, alpha === null ? "not defined" : alpha.toFixed(2))),
    h("ul", {}, pairs.map(({ a, b, n, exact }) => h("li", {}, own(a), " and ", own(b), `: the same level in ${Math.round(exact * n)} of ${n} rows`))));
}

function dispute(row, { by, ladders, onrow }) {
  const disputed = ladders.filter(({ criterion }) => spread(row.said, criterion) > 0);
  return h("li", { class: "dispute" },
    h("div", { class: "pair" }, ["source", "edited"].map((name) => h("img", { src: picture(row.number, name), alt: name, loading: "lazy" }))),
    h("div", { class: "saying" },
      h("p", { class: "asked", dir: "auto" }, row.instruction),
      h("p", { class: "fine" }, disputed.length ? `apart in ${disputed.map(({ name }) => name).join(" and ")}` : "all agree"),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "rater"), ladders.map(({ criterion }) => h("th", { scope: "col" }, criterion)), h("th", { scope: "col" }, "comment"))),
        h("tbody", {}, Object.entries(row.said).map(([rater, { levels, comment }]) => h("tr", {}, h("th", { scope: "row" }, own(rater), rater === by && " (you)"), ladders.map((ladder) => h("td", {}, chip(ladder, levels[ladder.criterion]))), h("td", {}, own(comment)))))),
      button("Look again", () => onrow(row.number))));
}
