// One criterion of one row: its questions in order, the answers so far, the level they lead to.
import { h, button, chip } from "./dom.js";

// The questions that are open to be seen: those answered, then the first unanswered one.
function walk(ladder, answers) {
  const steps = [];
  for (const question of ladder.questions) {
    const answer = answers[question.id];
    if (answer === undefined) return { steps, next: question, level: null };
    steps.push({ question, answer });
    if (question.outcomes[answer] !== null) return { steps, next: null, level: question.outcomes[answer] };
  }
  return { steps, next: null, level: null };
}

export const levelOf = (ladder, answers) => walk(ladder, answers).level;
export const openQuestion = (ladder, answers) => walk(ladder, answers).next;

// The answers that lead to a level: picking it is the same as answering.
function pathTo(ladder, level) {
  const answers = {};
  for (const { id, outcomes } of ladder.questions) {
    const end = Object.keys(outcomes).find((answer) => outcomes[answer] === level);
    if (end) return { ...answers, [id]: end };
    answers[id] = Object.keys(outcomes).find((answer) => outcomes[answer] === null);
  }
  return answers;
}

export function card(ladder, answers, { active, type, onanswers }) {
  const { steps, next, level } = walk(ladder, answers);
  const kept = (n) => Object.fromEntries(steps.slice(0, n).map(({ question, answer }) => [question.id, answer]));
  return h("section", { class: `card${active ? " active" : ""}`, "aria-label": ladder.name, "data-criterion": ladder.criterion },
    h("h2", {}, ladder.name, level && chip(ladder, level)),
    steps.length > 0 && h("ol", { class: "answers" }, steps.map(({ question, answer }, n) =>
      h("li", {}, h("span", {}, question.id.replaceAll("_", " "), ": ", h("b", {}, answer)),
        button("change", () => onanswers(kept(n)), { class: "link", "aria-label": `change ${question.id}` })))),
    next && h("div", { class: "question" }, h("p", {}, next.ask),
      h("div", { class: "choices" }, Object.keys(next.outcomes).map((answer) =>
        button([answer, active && h("kbd", {}, answer[0])], () => onanswers({ ...answers, [next.id]: answer }), { "data-answer": answer })))),
    h("details", {}, h("summary", {}, "All levels and notes"),
      h("ul", { class: "levels" }, ladder.levels.map(({ number, label, means }) =>
        h("li", {}, button([h("b", {}, number), " ", label], () => onanswers(pathTo(ladder, number)), { class: `l${number}`, "aria-pressed": String(number === level) }), h("p", {}, means)))),
      [...ladder.notes, ladder.type_notes[type]].filter(Boolean).map((note) => h("p", { class: "fine" }, note))));
}
