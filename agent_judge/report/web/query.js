// The address says what is shown: "#/", "#/rows?editor=a&IF=1,2", "#/row/RUN/ID?editor=a".
"use strict";

AJ.query = {
  read() {
    const [path, text = ""] = location.hash.replace(/^#/, "").split("?");
    const [view = "", ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
    return { view: view || "summary", run: rest[0], id: rest[1], set: new URLSearchParams(text) };
  },
  rows(set) { return `#/rows${suffix(set)}`; },
  row(line, set) { return `#/row/${encodeURIComponent(line.run)}/${encodeURIComponent(line.id)}${suffix(set)}`; },
  // The same parameters with some changed; an empty value takes one out. A new selection starts on page 1.
  changed(set, changes) {
    const next = new URLSearchParams(set);
    if (!("page" in changes)) next.delete("page");
    for (const [name, value] of Object.entries(changes)) {
      if (value === "" || value === null) next.delete(name);
      else next.set(name, value);
    }
    return next;
  },
};

function suffix(set) {
  const text = set?.toString();
  return text ? `?${text}` : "";
}
