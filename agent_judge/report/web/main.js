// From the address to a view, and the keys.
"use strict";

AJ.dialog = (...content) => {
  const dialog = document.getElementById("help");
  dialog.replaceChildren(...content, AJ.h("p", {}, AJ.h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  dialog.showModal();
};

(() => {
  const views = Object.fromEntries(["summary", "rows", "row"].map((name) => [name, document.getElementById(name)]));
  let at = null;

  async function show() {
    const before = at;
    const where = at = AJ.query.read();
    if (!views[where.view]) where.view = "summary";
    if (where.view === "rows") AJ.showList(views.rows, where.set);
    if (where.view === "row") await AJ.showRow(views.row, where);
    if (at !== where) return; // the reader has gone on while a part was loading
    for (const [name, element] of Object.entries(views)) element.hidden = name !== where.view;
    document.querySelectorAll(".top nav a").forEach((link) => {
      const here = link.dataset.view === where.view || (link.dataset.view === "rows" && where.view === "row");
      link.toggleAttribute("aria-current", here);
    });
    const samePage = before?.view === where.view && before?.set.get("page") === where.set.get("page");
    if (where.view !== "rows" || !samePage) scrollTo(0, 0);
  }

  // A line that the keys are on, in the list.
  function move(by) {
    const lines = [...views.rows.querySelectorAll(".line")];
    const here = lines.indexOf(document.activeElement);
    const next = lines[Math.min(Math.max(here + by, 0), lines.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  const keys = {
    rows: { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) },
    row: {
      j: () => document.getElementById("next").click(),
      k: () => document.getElementById("before").click(),
      Escape: () => document.getElementById("back").click(),
      1: () => AJ.atViewer.mode("side"),
      2: () => AJ.atViewer.mode("slide"),
      x: () => AJ.atViewer.swap(),
      t: () => AJ.atViewer.target(),
      0: () => AJ.atViewer.whole(),
      "+": () => AJ.atViewer.zoom(1.5),
      "-": () => AJ.atViewer.zoom(1 / 1.5),
      b: () => AJ.atViewer.marks(),
    },
    any: {
      "/": () => { if (at.view !== "rows") location.hash = "#/rows"; setTimeout(() => document.getElementById("search")?.focus()); },
      "?": help,
    },
  };

  function help() {
    const row = (key, does) => [AJ.h("dt", {}, AJ.h("kbd", {}, key)), AJ.h("dd", {}, does)];
    AJ.dialog(AJ.h("h3", {}, "Keys"), AJ.h("dl", { class: "plain" },
      row("/", "search the rows"), row("j k", "next row, row before"), row("Enter", "open the row that the list is on"), row("Esc", "back to the list"),
      row("1 2", "side by side, slider"), row("x", "swap source and edited under the slider"), row("t 0", "zoom to the target, whole picture"), row("+ −", "larger, smaller (or Ctrl and wheel; drag to move)"), row("b", "boxes on or off")));
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || document.getElementById("help").open) return;
    const action = keys[at.view]?.[event.key] ?? keys.any[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  document.getElementById("keys").addEventListener("click", help);
  document.getElementById("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
      || (getComputedStyle(document.documentElement).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("agent-judge-theme", document.documentElement.dataset.theme); } catch { /* not kept */ }
  });
  try {
    const kept = localStorage.getItem("agent-judge-theme");
    if (kept) document.documentElement.dataset.theme = kept;
  } catch { /* storage may be closed to pages from disk */ }

  AJ.drawPlots(document.getElementById("plots"));
  addEventListener("hashchange", show);
  show();
})();
