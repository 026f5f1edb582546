// The pictures of a row: side by side or one over the other, moved and enlarged together.
"use strict";

AJ.viewer = (line, page) => {
  const state = { mode: "side", x: 0, y: 0, scale: 1, split: 50, marks: true };
  const root = AJ.h("div", { class: "viewer" });
  const names = ["source", "edited", "reference"].filter((name) => page.pictures[name]);
  const marks = marksOf(page);
  let size = null; // of the source, in pixels: the frame that boxes are given in
  let sheets = [];

  const target = aroundTargets(marks);
  const bar = AJ.h("div", { class: "tools" });
  const stage = AJ.h("div", { class: "panes" });
  root.append(bar, stage, legend(marks));

  function drawBar() {
    const toggle = (pressed, text, title, onclick) => AJ.h("button", { type: "button", "aria-pressed": String(pressed), title, onclick }, text);
    bar.replaceChildren(
      AJ.h("span", { class: "group", role: "group", "aria-label": "Layout" },
        toggle(state.mode === "side", "Side by side", "key 1", () => api.mode("side")),
        toggle(state.mode === "slide", "Slider", "key 2", () => api.mode("slide"))),
      AJ.h("span", { class: "group", role: "group", "aria-label": "Zoom" },
        AJ.h("button", { type: "button", title: "key 0", onclick: () => api.whole() }, "Whole"),
        target && AJ.h("button", { type: "button", title: "key t", onclick: () => api.target() }, "Target"),
        AJ.h("button", { type: "button", title: "key -", "aria-label": "Smaller", onclick: () => api.zoom(1 / 1.5) }, "−"),
        AJ.h("button", { type: "button", title: "key +", "aria-label": "Larger", onclick: () => api.zoom(1.5) }, "+")),
      marks.length ? AJ.h("label", {}, AJ.h("input", { type: "checkbox", checked: state.marks, onchange: () => api.marks() }), "Boxes") : null);
  }

  function drawStage() {
    sheets = [];
    stage.classList.toggle("one", state.mode === "slide");
    if (state.mode === "side") stage.replaceChildren(...names.map((name) => pane(name, [name])));
    else stage.replaceChildren(pane("source | edited", ["source", "edited"], slider()));
    place();
  }

  function pane(title, layers, below) {
    const glass = AJ.h("div", { class: "glass", "data-names": layers.join(" ") });
    layers.forEach((name, layer) => glass.append(sheet(name, layer)));
    if (marks.length) glass.append(overlay());
    if (layers.length > 1) glass.append(AJ.h("div", { class: "split" }));
    listen(glass);
    const file = layers.map((name) => page.pictures[name].file.split("/").pop()).join(" | ");
    return AJ.h("figure", { class: "pane" }, AJ.h("figcaption", {}, AJ.h("b", {}, title), AJ.own(file)), glass, below);
  }

  function sheet(name, layer) {
    const element = AJ.h("div", { class: "sheet" });
    const picture = page.pictures[name];
    const lost = () => element.replaceChildren(AJ.h("div", { class: "lost" }, `${picture.file} cannot be shown`));
    if (!picture.url) lost();
    else {
      element.append(AJ.h("img", { src: picture.url, alt: name, draggable: "false", onerror: lost, onload: (event) => { if (name === "source") measured(event.target); } }));
    }
    sheets.push({ element, layer });
    return element;
  }

  function overlay() {
    const frame = AJ.svg("svg", {});
    const element = AJ.h("div", { class: "sheet over" }, frame);
    sheets.push({ element, layer: 0, frame });
    return element;
  }

  function measured(image) {
    size = [image.naturalWidth, image.naturalHeight];
    place();
  }

  function place() {
    const [width, height] = size ?? [4, 3];
    for (const pane of stage.children) {
      pane.querySelector(".glass").style.aspectRatio = `${width} / ${height}`;
      pane.style.setProperty("--widest", `calc(72vh * ${width / height})`);
    }
    for (const { element, layer, frame } of sheets) {
      const across = element.parentElement.clientWidth || 1;
      element.style.setProperty("--scale", state.scale);
      element.style.transform = `translate(${state.x * 100}%, ${state.y * 100}%) scale(${state.scale})`;
      element.classList.toggle("close", (across * state.scale) / width > 3);
      // The split is a place on the glass; the clip is in the sheet's own, moved and scaled frame.
      if (layer === 1) element.style.clipPath = `inset(0 0 0 ${((state.split / 100 - state.x) / state.scale) * 100}%)`;
      if (frame) drawMarks(frame, width, height);
    }
    stage.querySelectorAll(".split").forEach((split) => { split.style.left = `${state.split}%`; });
  }

  function drawMarks(frame, width, height) {
    frame.replaceChildren();
    frame.setAttribute("viewBox", `0 0 ${width} ${height}`);
    if (!state.marks || !size) return;
    for (const { box: [x1, y1, x2, y2], kind, label } of marks) {
      for (const style of ["back", kind]) {
        const rect = AJ.svg("rect", { class: style, x: x1, y: y1, width: x2 - x1, height: y2 - y1 });
        rect.append(AJ.svg("title", {}));
        rect.firstChild.textContent = label;
        frame.append(rect);
      }
    }
  }

  function slider() {
    return AJ.h("input", { class: "slide", type: "range", min: 0, max: 100, step: 0.5, value: state.split, "aria-label": "Where source ends and edited begins", oninput: (event) => { state.split = Number(event.target.value); place(); } });
  }

  function listen(glass) {
    let from = null;
    glass.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, state.x, state.y]; glass.setPointerCapture(event.pointerId); glass.classList.add("dragging"); });
    glass.addEventListener("pointermove", (event) => {
      if (!from) return;
      state.x = from[2] + (event.clientX - from[0]) / glass.clientWidth;
      state.y = from[3] + (event.clientY - from[1]) / glass.clientHeight;
      keepInside();
      place();
    });
    for (const end of ["pointerup", "pointercancel"]) glass.addEventListener(end, () => { from = null; glass.classList.remove("dragging"); });
    glass.addEventListener("dblclick", (event) => {
      const rect = glass.getBoundingClientRect();
      api.zoom(2, (event.clientX - rect.left) / rect.width, (event.clientY - rect.top) / rect.height);
    });
    glass.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // plain wheel scrolls the page
      event.preventDefault();
      const rect = glass.getBoundingClientRect();
      api.zoom(Math.exp(-event.deltaY / 200), (event.clientX - rect.left) / rect.width, (event.clientY - rect.top) / rect.height);
    }, { passive: false });
  }

  function keepInside() {
    state.x = Math.min(0, Math.max(1 - state.scale, state.x));
    state.y = Math.min(0, Math.max(1 - state.scale, state.y));
  }

  const api = {
    element: root,
    mode(mode) { if (mode === "slide" && names.length < 2) return; state.mode = mode; drawBar(); drawStage(); },
    whole() { Object.assign(state, { x: 0, y: 0, scale: 1 }); place(); },
    target() {
      if (!target || !size) return;
      const [width, height] = size;
      const [x1, y1, x2, y2] = target;
      const scale = Math.max(1, Math.min(0.5 * width / (x2 - x1), 0.5 * height / (y2 - y1), 40));
      Object.assign(state, { scale, x: 0.5 - (scale * (x1 + x2)) / 2 / width, y: 0.5 - (scale * (y1 + y2)) / 2 / height });
      keepInside();
      place();
    },
    zoom(factor, atX = 0.5, atY = 0.5) {
      const scale = Math.min(64, Math.max(1, state.scale * factor));
      state.x = atX - ((atX - state.x) * scale) / state.scale;
      state.y = atY - ((atY - state.y) * scale) / state.scale;
      state.scale = scale;
      keepInside();
      place();
    },
    marks() { state.marks = !state.marks; drawBar(); place(); },
    swap() { state.split = state.split < 50 ? 100 : 0; api.mode("slide"); },
  };
  new ResizeObserver(place).observe(stage);
  drawBar();
  drawStage();
  return api;
};

// Every box worth seeing: the targets, the judge's anomalies, the regions that `difference` listed.
function marksOf(page) {
  const marks = [];
  for (const [criterion, verdict] of Object.entries(page.verdicts)) {
    const { record, steps } = verdict;
    if (!marks.some((mark) => mark.kind === "target")) {
      const kind = record.box_origin === "judge" ? "target, as the judge saw it" : "target";
      record.target_boxes.forEach((box) => marks.push({ kind: "target", box, label: kind }));
    }
    record.anomalies.filter((one) => one.box).forEach((one) => marks.push({ kind: "anomaly", box: one.box, label: one.what }));
    for (const tool of steps.flatMap((step) => step.tools)) {
      if (tool.tool !== "difference" || marks.some((mark) => mark.kind === "region")) continue;
      for (const region of parsed(tool.reply)?.regions ?? []) marks.push({ kind: "region", box: region.box_px, label: `difference region (${criterion})` });
    }
  }
  // Drawn in this order, so that a region's dashes never hide the target.
  return ["region", "anomaly", "target"].flatMap((kind) => marks.filter((mark) => mark.kind === kind));
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
}

function aroundTargets(marks) {
  const boxes = marks.filter((mark) => mark.kind === "target").map((mark) => mark.box);
  if (!boxes.length) return null;
  return [0, 1, 2, 3].map((i) => Math[i < 2 ? "min" : "max"](...boxes.map((box) => box[i])));
}

function legend(marks) {
  const words = { target: "target", anomaly: "anomaly the judge named", region: "region that difference found" };
  const kinds = Object.keys(words).filter((kind) => marks.some((mark) => mark.kind === kind));
  const colours = { target: "var(--accent)", anomaly: "#ffb000", region: "#28d7e8" };
  return kinds.length ? AJ.h("p", { class: "fine" }, kinds.map((kind) => [AJ.h("span", { class: "key", style: { borderColor: colours[kind] } }), ` ${words[kind]}   `])) : null;
}
