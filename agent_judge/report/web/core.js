// What every part of the page needs: the data as it arrives, and elements made from text alone.
"use strict";

const AJ = {
  about: null, // {runs, ladders, criteria, fates, reasons}
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
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
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

AJ.labelOf = (criterion, level) => AJ.about.ladders[criterion].levels.find((l) => l.number === level).label;

// How a criterion of a row ended, in one word: a level, a fate or a reason.
AJ.fateWord = (fate) => (fate.level ? String(fate.level) : fate.reason ?? fate.status);

AJ.chip = (criterion, fate) => {
  if (!fate) return AJ.h("span", { class: "chip" }, AJ.h("span", {}, "not asked for"));
  if (fate.level) {
    return AJ.h("span", { class: `chip l${fate.level}` }, AJ.h("b", {}, fate.level), AJ.h("span", {}, AJ.labelOf(criterion, fate.level)));
  }
  const word = AJ.fateWord(fate);
  return AJ.h("span", { class: "chip", title: AJ.about.meanings[word] }, AJ.h("b", {}, "–"), AJ.h("span", {}, word.replaceAll("_", " ")));
};

AJ.number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });
AJ.percent = (value) => `${value.toPrecision(value < 0.1 ? 1 : 2).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")} %`;
