// What every part of the page needs: the data as it arrives, and elements made from text alone.
"use strict";

const AJ = {
  about: null, // {runs, rubrics, criteria, meanings}
  lines: [], // one a row, see rows.line_of
  parts: new Map(), // part number -> pages, see rows.page_of
};

// The data files call these: a page opened from disk may run scripts but not fetch.
AJ.receive = {
  about(about) { AJ.about = about; },
  list(lines) { AJ.lines = lines; lines.forEach((line, i) => { line.index = i; }); },
  part(number, pages) { AJ.parts.set(number, pages); },
};

// An element. Children that are no elements become text, so data can never become markup.
AJ.h = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
};

AJ.svg = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// Text from data: its direction is its own and cannot reach beyond it.
AJ.own = (text) => AJ.h("bdi", {}, String(text));

AJ.load = (src) => new Promise((resolve, reject) => {
  document.head.append(AJ.h("script", { src, onload: resolve, onerror: () => reject(new Error(`cannot read ${src}`)) }));
});

AJ.page = async (line) => {
  if (!AJ.parts.has(line.part)) await AJ.load(`data/part-${line.part}.js`);
  return AJ.parts.get(line.part)[line.at];
};

AJ.has = (level) => level !== null && level !== undefined; // 0 is a level

// Levels are counted by bins, worst first: each whole level, else quarters of the scale.
AJ.binOf = (criterion, level) => {
  const { worst, best, bins, whole } = AJ.about.rubrics[criterion];
  return whole ? Math.round(level - worst) : Math.min(bins.length - 1, Math.floor(((level - worst) / (best - worst)) * bins.length));
};
// Its colour, 1 to 7: a ladder of four takes every other one.
AJ.shade = (criterion, bin) => 1 + Math.round((6 * bin) / (AJ.about.rubrics[criterion].bins.length - 1));
AJ.binName = (criterion, bin) => {
  const { bins, levels } = AJ.about.rubrics[criterion];
  const named = levels.find(({ number }) => String(number) === bins[bin]);
  return named && named.label !== bins[bin] ? `${bins[bin]}, ${named.label}` : bins[bin];
};
AJ.labelOf = (criterion, level) => {
  const named = AJ.about.rubrics[criterion].levels.find(({ number }) => number === level);
  return named && named.label !== String(level) ? named.label : "";
};
AJ.levelKey = (criterion, level) => (AJ.has(level) ? AJ.about.rubrics[criterion].bins[AJ.binOf(criterion, level)] : "none");

// How a criterion of a row ended, in one word: a level, a fate or a reason.
AJ.fateWord = (fate) => (AJ.has(fate.level) ? String(fate.level) : fate.reason ?? fate.status);

AJ.chip = (criterion, fate) => {
  if (!fate) return AJ.h("span", { class: "chip" }, AJ.h("span", {}, "not asked for"));
  if (AJ.has(fate.level)) {
    const shade = AJ.shade(criterion, AJ.binOf(criterion, fate.level)), label = AJ.labelOf(criterion, fate.level);
    return AJ.h("span", { class: `chip l${shade}` }, AJ.h("b", {}, AJ.number(fate.level, 3)), label && AJ.h("span", {}, label));
  }
  const word = AJ.fateWord(fate);
  return AJ.h("span", { class: "chip", title: AJ.about.meanings[word] }, AJ.h("b", {}, "–"), AJ.h("span", {}, word.replaceAll("_", " ")));
};

AJ.number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });
AJ.percent = (value) => `${value.toPrecision(value < 0.1 ? 1 : 2).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")} %`;
