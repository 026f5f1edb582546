// The plots of the summary, as SVG: failure modes, target sizes, and the scale plots of Figure 6.
"use strict";

AJ.receive.plots = (plots) => { AJ.plotData = plots; };

const MANY_POINTS = 2000; // above this, points are counted in cells
const levelColour = { type: "categorical", domain: [4, 3, 2, 1], range: [4, 3, 2, 1].map((level) => `var(--l${level})`) };

AJ.drawPlots = (root) => {
  const criteria = AJ.about.criteria;
  root.replaceChildren(
    AJ.h("h2", {}, "Failure modes"),
    AJ.h("p", { class: "fine" }, "Share of the scored rows at each level. The number of rows stands in the bar, behind it scored / planned: a bar of few rows says little. Click a part to see its rows."),
    grid(criteria.map((criterion) => panel(AJ.about.ladders[criterion].name, bars(criterion, AJ.plotData.map((one) => [nameOf(one), one.levels[criterion], { editor: one.editor, mode: one.mode }])), keyOf(criterion)))),
    AJ.h("h2", {}, "By target size"),
    AJ.h("p", { class: "fine" }, "Size is the share of the picture that the target's boxes cover; rows whose boxes were never read are not counted."),
    byEditor(AJ.plotData, (one) => grid(criteria.map((criterion) => panel(AJ.about.ladders[criterion].name, bars(criterion, sizesOf(one, criterion)))))),
    ...scalePlots(criteria),
  );
};

const grid = (children) => AJ.h("div", { class: "plots" }, children);
// The mode is part of the name only where it tells editors apart.
function nameOf(one) {
  const editor = one.editor || "(unnamed)";
  return new Set(AJ.plotData.map((other) => other.mode)).size > 1 ? `${editor} · ${one.mode}` : editor;
}

// A part for each editor, one below the other; where they are many, one at a time.
function byEditor(editors, draw) {
  if (editors.length === 1) return draw(editors[0]);
  if (editors.length <= 3) return AJ.h("div", {}, editors.map((one) => [AJ.h("h3", {}, AJ.own(nameOf(one))), draw(one)]));
  const place = AJ.h("div", {}, draw(editors[0]));
  const select = AJ.h("select", { "aria-label": "Editor", onchange: () => place.replaceChildren(draw(editors[select.selectedIndex])) },
    editors.map((one) => AJ.h("option", {}, nameOf(one))));
  return AJ.h("div", {}, AJ.h("p", {}, select), place);
}

const panel = (title, ...content) => AJ.h("figure", { class: "plot" }, AJ.h("figcaption", {}, AJ.own(title)), content);

function keyOf(criterion) {
  return AJ.h("p", { class: "fine keys" }, AJ.about.ladders[criterion].levels.map(({ number, label }) => [AJ.h("i", { class: `l${number} swatch` }), ` ${label}  `]));
}

function sizesOf(one, criterion) {
  return Object.entries(one.by_size[criterion]).map(([name, counts]) => [name, counts, { editor: one.editor, mode: one.mode, size: AJ.sizes.find((bin) => bin.group === name)?.key }]);
}

// Stacked bars of level shares, a bar a group.
function bars(criterion, groups) {
  const parts = groups.flatMap(([name, { n_at_level: counts }, where]) => {
    const scored = counts.reduce((sum, n) => sum + n, 0);
    let before = 0;
    return [4, 3, 2, 1].filter((level) => counts[level - 1]).map((level) => {
      const part = { name, level, n: counts[level - 1], from: before / scored, to: (before + counts[level - 1]) / scored, where };
      before += counts[level - 1];
      return part;
    });
  });
  const names = groups.map(([name]) => name);
  const totals = groups.map(([name, counts]) => ({ name, text: `${counts.n_at_level.reduce((sum, n) => sum + n, 0)} / ${counts.n_planned}` }));
  if (!parts.length) return AJ.h("p", { class: "why" }, "No row was scored.");
  return sized((width) => {
    const margin = Math.min(180, Math.max(...names.map((name) => name.length)) * 7 + 12, width * 0.4);
    const svg = Plot.plot({
      width, height: 28 * names.length + 30, marginTop: 6, marginLeft: margin, marginRight: Math.max(62, 14 + 6 * Math.max(...totals.map((one) => one.text.length))),
      x: { percent: true, label: null, tickFormat: (d) => `${d} %`, ticks: 5, domain: [0, 100] }, y: { domain: names, label: null, tickFormat: (name) => shortened(name, margin) }, color: levelColour,
      marks: [
        Plot.barX(parts, { x1: "from", x2: "to", y: "name", fill: "level", inset: 0.5, title: (d) => `${d.name}: ${d.n} at level ${d.level}, ${AJ.labelOf(criterion, d.level)} (${AJ.number(100 * (d.to - d.from), 1)} %)` }),
        Plot.text(parts.filter((d) => (d.to - d.from) * width > 40), { x: (d) => (d.from + d.to) / 2, y: "name", text: (d) => String(d.n), fill: "#fff", fontWeight: 600, pointerEvents: "none" }),
        Plot.text(totals, { x: 1, y: "name", text: "text", textAnchor: "start", dx: 6, title: (d) => `${d.text} rows scored` }),
      ],
    });
    svg.querySelectorAll("[aria-label=bar] rect").forEach((rect, i) => {
      const { level, where } = parts[i];
      rect.style.cursor = "pointer";
      rect.addEventListener("click", () => {
        const set = new URLSearchParams({ [criterion]: level });
        for (const [name, value] of Object.entries(where)) if (value !== undefined && AJ.lines.some((line) => line[name] !== value)) set.set(name, value);
        location.hash = AJ.query.rows(set);
      });
    });
    return svg;
  });
}

function shortened(name, room) {
  const fit = Math.floor((room - 10) / 6.4);
  // The end stays: a mode or a version that tells two names apart often stands there.
  return name.length > fit ? `${name.slice(0, fit - 9)}…${name.slice(-8)}` : name;
}

function scalePlots(criteria) {
  const placed = AJ.plotData.filter((one) => criteria.some((c) => one.scale[c].points.length || one.scale[c].curve.length));
  if (!placed.length) return [];
  return [
    AJ.h("h2", {}, "Does the target's size decide?"),
    AJ.h("p", { class: "fine" }, "After DLEBench's Figure 6: width and height of the target as shares of the picture's, on log scales; and the mean level in a window of ten rows sliding from the smallest target to the largest."),
    byEditor(placed, (one) => AJ.h("div", {},
      grid(criteria.flatMap((c) => [
        one.scale[c].points.length ? panel(`${AJ.about.ladders[c].name}: each row`, scatter(one.scale[c], c)) : null,
        one.scale[c].curve.length ? panel(`${AJ.about.ladders[c].name}: sliding window`, curve(one.scale[c])) : null,
      ])),
      AJ.h("p", { class: "fine" }, criteria.map((c) => one.scale[c].sentence).join(" ")))),
  ];
}

// Shares come as log10; the axis is in per cent, with round ticks.
const asPercent = (log) => 100 * 10 ** log;
const roundTicks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
function percentAxis(label, values) {
  const domain = [Math.min(...values) / 1.15, Math.max(...values) * 1.15];
  return { type: "log", label, domain, ticks: roundTicks.filter((tick) => tick >= domain[0] && tick <= domain[1]), tickFormat: (tick) => `${tick} %` };
}

function scatter(scale, criterion) {
  const points = scale.points.map(([id, level, x, y]) => ({ id, level, x: asPercent(x), y: asPercent(y) }));
  return sized((width) => {
    const marks = points.length > MANY_POINTS
      ? [Plot.dot(points, Plot.hexbin({ r: "count", fill: "mean" }, { x: "x", y: "y", fill: "level", binWidth: 14 }))]
      : [Plot.dot(points, { x: "x", y: "y", fill: "level", fillOpacity: 0.75, r: 4, stroke: "var(--paper)", strokeWidth: 0.5, title: (d) => `${d.id}: ${AJ.labelOf(criterion, d.level)}`, href: (d) => rowOf(d.id) })];
    const color = points.length > MANY_POINTS ? { type: "linear", domain: [1, 2, 3, 4], range: [1, 2, 3, 4].map((l) => `var(--l${l})`), interpolate: "rgb" } : levelColour;
    return Plot.plot({ width, height: width * 0.62, marginLeft: 52, grid: true, color, r: { range: [1, 9] }, x: percentAxis("target width", points.map((d) => d.x)), y: percentAxis("target height", points.map((d) => d.y)), marks });
  });
}

function rowOf(key) {
  const line = AJ.lines.find((one) => `${one.run}/${one.id}` === key);
  return line ? AJ.query.row(line) : undefined;
}

function curve(scale) {
  const steps = scale.curve.map(([x, y]) => ({ x: asPercent(x), y }));
  return sized((width) => Plot.plot({
    width, height: width * 0.62, marginLeft: 52, grid: true,
    x: percentAxis("target area", steps.map((d) => d.x)), y: { label: "mean level", domain: [1, 4], ticks: [1, 2, 3, 4], tickFormat: "d" },
    marks: [Plot.lineY(steps, { x: "x", y: "y", stroke: "var(--link)", strokeWidth: 1.5 })],
  }));
}

// A plot drawn at the width that it has, and again when that changes.
function sized(draw) {
  const box = AJ.h("div", { class: "drawing" });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(box.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    box.replaceChildren(draw(width));
  }).observe(box);
  return box;
}
