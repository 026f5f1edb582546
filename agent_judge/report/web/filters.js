// Which rows are shown, in which order: everything comes from the address.
"use strict";

AJ.sizes = [
  { key: "tiny", group: "< 0.07 %", label: "under 0.07 %", holds: (area) => area !== null && area < 0.07 },
  { key: "small", group: "0.07 to 0.8 %", label: "0.07 to 0.8 %", holds: (area) => area !== null && area >= 0.07 && area <= 0.8 },
  { key: "large", group: "> 0.8 %", label: "over 0.8 %", holds: (area) => area !== null && area > 0.8 },
  { key: "unknown", group: "(no box)", label: "unknown", holds: (area) => area === null },
];

AJ.views = [
  { key: "contradictions", label: "pixels contradict the verdict", holds: (line) => line.flags.some((flag) => flag.startsWith("claims_")) },
  { key: "disputed", label: "judge and labels differ", holds: (line) => furthest(line) >= 1 },
  { key: "far", label: "they differ by 2 or more", holds: (line) => furthest(line) >= 2 },
];

AJ.orders = [
  { key: "", label: "as in the manifest", by: (line) => line.index },
  { key: "worst", label: "worst first", by: (line) => meanScore(line) ?? 2 },
  { key: "best", label: "best first", by: (line) => -(meanScore(line) ?? -2) },
  { key: "smallest", label: "smallest target first", by: (line) => line.area_pct ?? Infinity },
  { key: "largest", label: "largest target first", by: (line) => -(line.area_pct ?? -Infinity) },
  { key: "disputed", label: "furthest from the labels first", by: (line) => -furthest(line) },
];

// Mean of the scored criteria, each from 0 (worst) to 1; undefined where none is scored.
function meanScore(line) {
  const shares = Object.entries(line.fates).filter(([, fate]) => AJ.has(fate.level)).map(([criterion, fate]) => {
    const { worst, best } = AJ.about.rubrics[criterion];
    return (fate.level - worst) / (best - worst);
  });
  return shares.length ? shares.reduce((sum, share) => sum + share, 0) / shares.length : undefined;
}

// The largest distance between a level and the mean of the human labels; 0 without either.
function furthest(line) {
  return Math.max(0, ...AJ.about.criteria.map((c) => {
    const [level, human] = [line.fates[c]?.level, line.human[c]];
    return AJ.has(level) && AJ.has(human) ? Math.abs(level - human) : 0;
  }));
}

const MANY_CRITERIA = 4;
const plainFields = ["run", "editor", "type", "mode"];

// One test a filter; `skip` leaves one out, to count what it would find.
AJ.tests = (set) => {
  const tests = {};
  for (const name of plainFields) {
    if (set.has(name)) tests[name] = (line) => line[name] === set.get(name);
  }
  for (const criterion of AJ.about.criteria) {
    if (!set.get(criterion)) continue;
    const wanted = new Set(set.get(criterion).split(","));
    tests[criterion] = (line) => wanted.has(AJ.levelKey(criterion, line.fates[criterion]?.level));
  }
  const size = AJ.sizes.find((bin) => bin.key === set.get("size"));
  if (size) tests.size = (line) => size.holds(line.area_pct);
  const view = AJ.views.find((one) => one.key === set.get("show"));
  if (view) tests.show = view.holds;
  if (set.has("fate")) tests.fate = (line) => Object.values(line.fates).some((fate) => AJ.fateWord(fate) === set.get("fate"));
  if (set.has("flag")) tests.flag = (line) => line.flags.includes(set.get("flag"));
  if (set.has("item")) tests.item = (line) => line.item === set.get("item");
  const words = (set.get("text") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) {
    tests.text = (line) => {
      const text = `${line.id} ${line.instruction}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
  }
  return tests;
};

AJ.select = (set) => {
  const tests = Object.values(AJ.tests(set));
  const order = AJ.orders.find((one) => one.key === (set.get("sort") ?? "")) ?? AJ.orders[0];
  const found = AJ.lines.filter((line) => tests.every((test) => test(line)));
  const keyed = found.map((line) => [order.by(line), line]);
  return keyed.sort(([a, x], [b, y]) => a - b || x.index - y.index).map(([, line]) => line);
};

// The choices that the rows offer for a field, with how often each comes.
AJ.choices = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => String(a).localeCompare(String(b)));
};

AJ.filterBar = (set) => {
  const go = (changes) => { location.hash = AJ.query.rows(AJ.query.changed(set, changes)); };
  return AJ.h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    searchBox(set, go),
    plainFields.map((name) => fieldSelect(name, set, go)),
    levelFilters(set, go),
    select("Target size", "size", set, go, AJ.sizes.map((bin) => [bin.key, `${bin.label} (${AJ.lines.filter((l) => bin.holds(l.area_pct)).length})`])),
    select("No level because", "fate", set, go, fateChoices()),
    select("Flag", "flag", set, go, AJ.choices(AJ.lines.flatMap((line) => line.flags)).map(([flag, n]) => [flag, `${flag} (${n})`])),
    select("Show", "show", set, go, AJ.views.map((view) => [view.key, `${view.label} (${AJ.lines.filter(view.holds).length})`])),
    select("Sort", "sort", set, go, AJ.orders.slice(1).map((order) => [order.key, order.label]), AJ.orders[0].label),
  );
};

function searchBox(set, go) {
  let waiting = 0;
  const input = AJ.h("input", {
    type: "search", id: "search", placeholder: "instruction or id", value: set.get("text") ?? "",
    oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => go({ text: input.value.trim() }), 200); },
  });
  return AJ.h("label", { class: "wide" }, "Text", input);
}

function fieldSelect(name, set, go) {
  const choices = AJ.choices(AJ.lines.map((line) => line[name]));
  if (choices.length < 2 && !set.has(name)) return null;
  const title = name[0].toUpperCase() + name.slice(1);
  // An empty editor or type is a choice as well: it cannot be the value that means "any".
  return select(title, name, set, go, choices.map(([value, n]) => [value, `${value || "(none)"} (${n})`]));
}

function select(title, name, set, go, choices, any = "any") {
  if (!choices.length) return null;
  const chosen = set.has(name) ? choices.findIndex(([value]) => value === set.get(name)) : -1;
  return AJ.h("label", {}, title,
    AJ.h("select", {
      name,
      onchange: (event) => {
        const index = event.target.selectedIndex - 1;
        const next = AJ.query.changed(set, { [name]: null });
        if (index >= 0) next.set(name, choices[index][0]);
        location.hash = AJ.query.rows(next);
      },
    },
    AJ.h("option", {}, any),
    choices.map(([, label], i) => AJ.h("option", { selected: i === chosen }, label))));
}

function fateChoices() {
  const words = AJ.lines.flatMap((line) => Object.values(line.fates).filter((fate) => !AJ.has(fate.level)).map(AJ.fateWord));
  return AJ.choices(words).map(([word, n]) => [word, `${word.replaceAll("_", " ")} (${n})`]);
}

// Where there are many criteria their buttons are folded away, but for those that filter now.
function levelFilters(set, go) {
  const buttons = levelButtons(set, go), { criteria } = AJ.about;
  if (criteria.length <= MANY_CRITERIA) return buttons;
  return AJ.h("details", { open: criteria.some((criterion) => set.has(criterion)) }, AJ.h("summary", {}, `Levels of ${criteria.length} criteria`), AJ.h("div", {}, buttons));
}

// A button a level, with how many rows it would leave: a histogram that filters.
function levelButtons(set, go) {
  return AJ.about.criteria.map((criterion) => {
    const others = Object.entries(AJ.tests(set)).filter(([name]) => name !== criterion).map(([, test]) => test);
    const rest = AJ.lines.filter((line) => others.every((test) => test(line)));
    const chosen = new Set((set.get(criterion) ?? "").split(",").filter(Boolean));
    const button = (key, title, shade) => AJ.h("button", {
      type: "button", class: shade ? `l${shade}` : "", "aria-pressed": String(chosen.has(key)), title,
      onclick: () => {
        if (!chosen.delete(key)) chosen.add(key);
        go({ [criterion]: [...chosen].sort().join(",") });
      },
    }, key === "none" ? "–" : key, AJ.h("small", {}, rest.filter((line) => AJ.levelKey(criterion, line.fates[criterion]?.level) === key).length));
    return AJ.h("label", {}, criterion, AJ.h("span", { class: "levelset" },
      AJ.about.rubrics[criterion].bins.map((key, bin) => button(key, AJ.binName(criterion, bin), AJ.shade(criterion, bin))).reverse(), button("none", "no level")));
  });
}
