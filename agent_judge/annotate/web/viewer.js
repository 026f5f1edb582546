// The pictures of a row: side by side, under a slider, or flipped; moved and enlarged together.
import { h, svg, button } from "./dom.js";
import { picture } from "./server.js";

const LAYOUTS = { side: "Side by side", slide: "Slider", flip: "Flip" };
const TITLES = { reference: "reference: one right result, others can be as right" };
const MAX_SCALE = 64;
const CLOSE = 3; // screen pixels a picture's pixel, from which on its pixels are shown as squares
const MIN_BOX_PX = 2;
const SLIDE_STEP = 2;

export class Viewer {
  // `row` as the server tells it; `drawn` are boxes of the rater, kept by whoever calls.
  constructor(number, row, { layout, drawn, ondraw, ondifference }) {
    this.number = number;
    this.row = row;
    this.drawn = drawn;
    this.ondraw = ondraw;
    this.ondifference = ondifference;
    this.layout = layout;
    this.view = { x: 0, y: 0, scale: 1 };
    this.split = 50;
    this.flipped = false;
    this.marks = true;
    this.difference = false;
    this.drawing = false;
    this.bar = h("div", { class: "tools" });
    this.stage = h("div", { class: "panes" });
    this.element = h("div", { class: "viewer" }, this.bar, this.stage);
    this.watch = new ResizeObserver(() => this.place());
    this.watch.observe(this.stage);
    this.draw();
  }

  close() { this.watch.disconnect(); }

  draw() {
    this.drawBar();
    this.sheets = [];
    this.stage.className = `panes ${this.layout}`;
    const { pictures } = this.row;
    if (this.layout === "side") this.stage.replaceChildren(...pictures.map((name) => this.pane(TITLES[name] ?? name, [name])));
    else if (this.layout === "slide") this.stage.replaceChildren(this.pane("source | edited", ["source", "edited"], this.slider()));
    else this.stage.replaceChildren(this.pane(this.flipped ? "edited" : "source", ["source", "edited"]));
    this.place();
  }

  drawBar() {
    const toggle = (pressed, text, key, onclick) => button(text, onclick, { "aria-pressed": String(pressed), title: `key ${key}` });
    const target = this.around();
    this.bar.replaceChildren(...[
      h("span", { class: "group", role: "group", "aria-label": "Layout" },
        Object.entries(LAYOUTS).map(([layout, text], n) => toggle(layout === this.layout, text, n + 1, () => this.show(layout)))),
      h("span", { class: "group", role: "group", "aria-label": "Zoom" },
        button("Whole", () => this.whole(), { title: "key 0" }),
        target && button("Target", () => this.target(), { title: "key t" }),
        button("−", () => this.zoom(1 / 1.5), { title: "key -", "aria-label": "Smaller" }),
        button("+", () => this.zoom(1.5), { title: "key +", "aria-label": "Larger" })),
      toggle(this.difference, "Difference", "d", () => this.toggleDifference()),
      target && toggle(this.marks, "Boxes", "x", () => this.toggleMarks()),
      this.row.draw_boxes && toggle(this.drawing, "Draw box", "b", () => this.toggleDrawing()),
    ].filter(Boolean));
  }

  pane(title, layers, below) {
    const glass = h("div", { class: `glass${this.drawing ? " drawing" : ""}` }, layers.map((name, layer) => this.sheet(name, layer)));
    if (this.layout === "slide") glass.append(h("div", { class: "split" }));
    this.listen(glass);
    return h("figure", { class: "pane" }, h("figcaption", {}, title), glass, below);
  }

  sheet(name, layer) {
    const element = h("div", { class: "sheet", "data-name": name }, h("img", { src: picture(this.number, name), alt: name, draggable: "false" }));
    if (this.difference && name === "edited") element.append(h("img", { class: "overlay", src: picture(this.number, "difference"), alt: "difference", draggable: "false" }));
    const frame = svg("svg", { viewBox: `0 0 ${this.row.size_wh.join(" ")}` });
    element.append(frame);
    element.hidden = this.layout === "flip" && (name === "edited") !== this.flipped;
    this.sheets.push({ element, layer, frame });
    return element;
  }

  slider() {
    return h("input", { class: "slide", type: "range", min: 0, max: 100, step: 0.5, value: this.split, "aria-label": "Where source ends and edited begins", oninput: (event) => { this.split = Number(event.target.value); this.place(); } });
  }

  place() {
    const [width, height] = this.row.size_wh;
    const { x, y, scale } = this.view;
    for (const glass of this.stage.querySelectorAll(".glass")) glass.style.aspectRatio = `${width} / ${height}`;
    for (const wide of this.stage.querySelectorAll(".glass, input")) wide.style.maxWidth = `calc(var(--tallest) * ${width / height})`;
    for (const { element, layer, frame } of this.sheets) {
      const across = element.parentElement.clientWidth || 1;
      element.style.transform = `translate(${x * 100}%, ${y * 100}%) scale(${scale})`;
      element.classList.toggle("close", (across * scale) / width > CLOSE);
      // The split is a place on the glass; the clip is in the sheet's own, moved and scaled frame.
      element.style.clipPath = layer === 1 && this.layout === "slide" ? `inset(0 0 0 ${((this.split / 100 - x) / scale) * 100}%)` : "";
      this.drawMarks(frame, width / across / scale);
    }
    for (const split of this.stage.querySelectorAll(".split")) split.style.left = `${this.split}%`;
  }

  // Frames lie around what they mark and stay thin at any zoom: a target may be a few pixels large.
  drawMarks(frame, pixels) {
    const boxes = this.marks ? [...this.row.boxes.map((box) => ["given", box]), ...this.drawn().map((box) => ["drawn", box])] : [];
    if (this.rubber) boxes.push(["drawn", this.rubber]);
    frame.replaceChildren(...boxes.flatMap(([kind, [x1, y1, x2, y2]]) => ["back", kind].map((style) => {
      const out = 2 * pixels;
      return svg("rect", { class: style, x: x1 - out, y: y1 - out, width: x2 - x1 + 2 * out, height: y2 - y1 + 2 * out, "stroke-width": (style === "back" ? 4 : 2) * pixels });
    })));
  }

  listen(glass) {
    let from = null;
    glass.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, view: { ...this.view }, at: this.pixel(glass, event) };
      glass.setPointerCapture(event.pointerId);
      glass.classList.add("dragging");
    });
    glass.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (this.drawing) this.rubber = between(from.at, this.pixel(glass, event));
      else {
        this.view.x = from.view.x + (event.clientX - from.x) / glass.clientWidth;
        this.view.y = from.view.y + (event.clientY - from.y) / glass.clientHeight;
        this.keepInside();
      }
      this.place();
    });
    const end = (event) => {
      if (!from) return;
      from = null;
      glass.classList.remove("dragging");
      const box = this.rubber;
      this.rubber = null;
      if (event.type === "pointerup" && box && box[2] - box[0] >= MIN_BOX_PX && box[3] - box[1] >= MIN_BOX_PX) this.ondraw([...this.drawn(), box]);
      this.drawBar();
      this.place();
    };
    glass.addEventListener("pointerup", end);
    glass.addEventListener("pointercancel", end);
    glass.addEventListener("dblclick", (event) => { if (!this.drawing) this.zoom(2, ...this.share(glass, event)); });
    glass.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 200), ...this.share(glass, event));
    }, { passive: false });
  }

  // Where on the glass an event is, 0 to 1.
  share(glass, event) {
    const rect = glass.getBoundingClientRect();
    return [(event.clientX - rect.left) / rect.width, (event.clientY - rect.top) / rect.height];
  }

  // The picture's pixel under an event: the nearest corner of pixels inside the picture.
  pixel(glass, event) {
    const [x, y] = this.share(glass, event);
    const [width, height] = this.row.size_wh;
    const inside = (value, limit) => Math.min(limit, Math.max(0, Math.round(value)));
    return [inside(((x - this.view.x) / this.view.scale) * width, width), inside(((y - this.view.y) / this.view.scale) * height, height)];
  }

  keepInside() {
    this.view.x = Math.min(0, Math.max(1 - this.view.scale, this.view.x));
    this.view.y = Math.min(0, Math.max(1 - this.view.scale, this.view.y));
  }

  around() {
    const boxes = [...this.row.boxes, ...this.drawn()];
    if (!boxes.length) return null;
    return [0, 1, 2, 3].map((i) => Math[i < 2 ? "min" : "max"](...boxes.map((box) => box[i])));
  }

  show(layout) { this.layout = layout; this.draw(); }
  flip() { this.flipped = !this.flipped; this.show("flip"); }
  toggleMarks() { this.marks = !this.marks; this.drawBar(); this.place(); }
  toggleDrawing() { if (this.row.draw_boxes) { this.drawing = !this.drawing; this.draw(); } }
  toggleDifference() {
    this.difference = !this.difference;
    if (this.difference) this.ondifference();
    this.draw();
  }

  slide(steps) {
    this.split = Math.min(100, Math.max(0, this.split + steps * SLIDE_STEP));
    const range = this.stage.querySelector(".slide");
    if (range) range.value = this.split;
    this.place();
  }

  whole() { this.view = { x: 0, y: 0, scale: 1 }; this.place(); }

  target() {
    const around = this.around();
    if (!around) return;
    const [width, height] = this.row.size_wh;
    const [x1, y1, x2, y2] = around;
    const scale = Math.max(1, Math.min((0.5 * width) / (x2 - x1), (0.5 * height) / (y2 - y1), MAX_SCALE));
    this.view = { scale, x: 0.5 - (scale * (x1 + x2)) / 2 / width, y: 0.5 - (scale * (y1 + y2)) / 2 / height };
    this.keepInside();
    this.place();
  }

  zoom(factor, atX = 0.5, atY = 0.5) {
    const { x, y, scale: before } = this.view;
    const scale = Math.min(MAX_SCALE, Math.max(1, before * factor));
    this.view = { scale, x: atX - ((atX - x) * scale) / before, y: atY - ((atY - y) * scale) / before };
    this.keepInside();
    this.place();
  }
}

function between([ax, ay], [bx, by]) {
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}
