// Elements made from text alone: what comes from a manifest or a rater can never become markup.

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return element;
}

export function svg(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Text from data: its direction is its own and cannot reach beyond it.
export const own = (text) => h("bdi", {}, String(text));

export const button = (text, onclick, attributes) => h("button", { type: "button", onclick, ...attributes }, text);

export const chip = (ladder, level) => {
  const label = ladder.levels.find((one) => one.number === level)?.label;
  return label ? h("span", { class: `chip l${level}` }, h("b", {}, level), h("span", {}, label)) : h("span", { class: "chip" }, h("b", {}, "–"), h("span", {}, "not rated"));
};
