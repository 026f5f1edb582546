// What the page asks of its server. Addresses are relative: they keep the token of the page's own.

async function ask(path, options) {
  const reply = await fetch(path, options);
  const data = await reply.json();
  if (!reply.ok) throw new Error(data.error);
  return data;
}

export const about = () => ask("about");
export const entriesOf = (by) => ask(`entries?${new URLSearchParams({ by })}`);
export const calibration = (by) => ask(`calibration?${new URLSearchParams({ by })}`);
export const picture = (number, name) => `pictures/${number}/${name}`;

const rows = new Map(); // row number -> promise of the row
export function row(number) {
  if (!rows.has(number)) {
    const asked = ask(`rows/${number}`);
    asked.catch(() => rows.delete(number));
    rows.set(number, asked);
  }
  return rows.get(number);
}

// The next row's pictures, so that they are there when the rater is.
export async function prefetch(number) {
  const { pictures } = await row(number);
  for (const name of pictures ?? []) new Image().src = picture(number, name);
}

// Saves go out one after the other: the last one of a row must be the one that stays.
let last = Promise.resolve();
export function save(number, said) {
  const body = JSON.stringify(said);
  const put = () => ask(`entries/${number}`, { method: "PUT", headers: { "Content-Type": "application/json" }, body, keepalive: true });
  const mine = last.then(put, put);
  last = mine.catch(() => {});
  return mine;
}
