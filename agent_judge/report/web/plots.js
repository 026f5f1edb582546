// The plots of the summary, as SVG: failure modes, target sizes, and the scale plots of Figure 6.
"use strict";

AJ.receive.plots = (plots) => { AJ.plotData = plots; };

const MANY_POINTS = 2000; // above this, points are counted in cells
const binsOf = (criterion) => [...AJ.about.rubrics[criterion].bins.keys()].reverse(); // best first
const binColour = (criterion) => ({ type: "categorical", domain: binsOf(criterion), range: binsOf(criterion).map((bin) => `var(--l${AJ.shade(criterion, bin)})`) });

AJ.drawPlots = (root) => {
  const criteria = AJ.about.criteria;
  root.replaceChildren(
    AJ.h("h2", {}, "Failure modes"),
    AJ.h("p", { class: "fine" }, "Share of the scored rows at each level. The number of rows stands in the bar, behind it scored / planned: a bar of few rows says little. Click a part to see its rows."),
    grid(criteria.map((criterion) => panel(AJ.about.rubrics[criterion].name, bars(criterion, AJ.plotData.map((one) => [nameOf(one), one.levels[criterion], { editor: one.editor, mode: one.mode }])), keyOf(criterion)))),
    AJ.h("h2", {}, "By target size"),
    AJ.h("p", { class: "fine" }, "Size is the share of the picture that the target's boxes cover; rows whose boxes were never read are not counted."),
    byEditor(AJ.plotData, (one) => grid(criteria.map((criterion) => panel(AJ.about.rubrics[criterion].name, bars(criterion, sizesOf(one, criterion)))))),
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
  return AJ.h("p", { class: "fine keys" }, binsOf(criterion).map((bin) => [AJ.h("i", { class: `l${AJ.shade(criterion, bin)} swatch` }), ` ${AJ.binName(criterion, bin)}  `]));
}

function sizesOf(one, criterion) {
  return Object.entries(one.by_size[criterion]).map(([name, counts]) => [name, counts, { editor: one.editor, mode: one.mode, size: AJ.sizes.find((bin) => bin.group === name)?.key }]);
}

// Stacked bars of level shares, a bar a group.
function bars(criterion, groups) {
  const parts = groups.flatMap(([name, { n_at_level: counts }, where]) => {
    const scored = counts.reduce((sum, n) => sum + n, 0);
    let before = 0;
    return binsOf(criterion).filter((bin) => counts[bin]).map((bin) => {
      const part = { name, bin, n: counts[bin], from: before / scored, to: (before + counts[bin]) / scored, where };
      before += counts[bin];
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
      x: { percent: true, label: null, tickFormat: (d) => `${d} %`, ticks: 5, domain: [0, 100] }, y: { domain: names, label: null, tickFormat: (name) => shortened(name, margin) }, color: binColour(criterion),
      marks: [
        Plot.barX(parts, { x1: "from", x2: "to", y: "name", fill: "bin", inset: 0.5, title: (d) => `${d.name}: ${d.n} at level ${AJ.binName(criterion, d.bin)} (${AJ.number(100 * (d.to - d.from), 1)} %)` }),
        Plot.text(parts.filter((d) => (d.to - d.from) * width > 40), { x: (d) => (d.from + d.to) / 2, y: "name", text: (d) => String(d.n), fill: "#fff", fontWeight: 600, pointerEvents: "none" }),
        Plot.text(totals, { x: 1, y: "name", text: "text", textAnchor: "start", dx: 6, title: (d) => `${d.text} rows scored` }),
      ],
    });
    svg.querySelectorAll("[aria-label=bar] rect").forEach((rect, i) => {
      const { bin, where } = parts[i];
      rect.style.cursor = "pointer";
      rect.addEventListener("click", () => {
        const set = new URLSearchParams({ [criterion]: AJ.about.rubrics[criterion].bins[bin] });
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
        one.scale[c].points.length ? panel(`${AJ.about.rubrics[c].name}: each row`, scatter(one.scale[c], c)) : null,
        one.scale[c].curve.length ? panel(`${AJ.about.rubrics[c].name}: sliding window`, curve(one.scale[c], c)) : null,
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
  const points = scale.points.map(([id, level, x, y]) => ({ id, level, bin: AJ.binOf(criterion, level), x: asPercent(x), y: asPercent(y) }));
  return sized((width) => {
    const marks = points.length > MANY_POINTS
      ? [Plot.dot(points, Plot.hexbin({ r: "count", fill: "mean" }, { x: "x", y: "y", fill: "level", binWidth: 14 }))]
      : [Plot.dot(points, { x: "x", y: "y", fill: "bin", fillOpacity: 0.75, r: 4, stroke: "var(--paper)", strokeWidth: 0.5, title: (d) => `${d.id}: ${d.level} ${AJ.labelOf(criterion, d.level)}`.trim(), href: (d) => rowOf(d.id) })];
    const { worst, best } = AJ.about.rubrics[criterion];
    const steps = [0, 1, 2, 3].map((n) => worst + ((best - worst) * n) / 3);
    const color = points.length > MANY_POINTS ? { type: "linear", domain: steps, range: [1, 3, 5, 7].map((l) => `var(--l${l})`), interpolate: "rgb" } : binColour(criterion);
    return Plot.plot({ width, height: width * 0.62, marginLeft: 52, grid: true, color, r: { range: [1, 9] }, x: percentAxis("target width", points.map((d) => d.x)), y: percentAxis("target height", points.map((d) => d.y)), marks });
  });
}

function rowOf(key) {
  const line = AJ.lines.find((one) => `${one.run}/${one.id}` === key);
  return line ? AJ.query.row(line) : undefined;
}

function curve(scale, criterion) {
  const { worst, best, whole, bins } = AJ.about.rubrics[criterion];
  const steps = scale.curve.map(([x, y]) => ({ x: asPercent(x), y }));
  return sized((width) => Plot.plot({
    width, height: width * 0.62, marginLeft: 52, grid: true,
    x: percentAxis("target area", steps.map((d) => d.x)), y: { label: "mean level", domain: [worst, best], ...(whole ? { ticks: bins.map(Number), tickFormat: "d" } : {}) },
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
