// The pictures that the judge was given, cut and painted out of the row's own.
"use strict";

AJ.prepared = (page, found) => {
  const { prepared } = found;
  if (!prepared) return null;
  const names = ["source", "edited", "reference"].filter((name) => page.pictures[name]?.url);
  const shown = prepared.crops
    ? prepared.crops.map((window) => pictures(page, names, window, []))
    : [pictures(page, names.slice(0, 2), [0, 0, ...page.size], prepared.white)];
  return AJ.h("details", { open: Boolean(prepared.crops) }, AJ.h("summary", {}, prepared.crops ? "The crops that the judge was given" : "The pictures that the judge was given, targets painted white"), shown);
};

function pictures(page, names, [x1, y1, x2, y2], white) {
  return AJ.h("div", { class: "crops" }, names.map((name) => {
    const frame = AJ.svg("svg", { viewBox: `${x1} ${y1} ${x2 - x1} ${y2 - y1}`, role: "img" });
    frame.append(AJ.svg("image", { href: page.pictures[name].url, width: page.size[0], height: page.size[1], preserveAspectRatio: "none" }));
    for (const [a, b, c, d] of white) frame.append(AJ.svg("rect", { x: a, y: b, width: c - a, height: d - b, fill: "#fff" }));
    const place = white.length ? "" : ` [${[x1, y1, x2, y2].join(", ")}]`;
    return AJ.h("figure", {}, frame, AJ.h("figcaption", {}, `${name}${place}`));
  }));
}
