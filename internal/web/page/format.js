// Numbers and times for people.

const whole = new Intl.NumberFormat("en");

/** count groups thousands. @param {number | string | undefined} n */
export const count = (n) => whole.format(Number(n ?? 0));

/** short is a number in three digits: 950, 12.3k, 4.1M. @param {number | string | undefined} n */
export function short(n) {
  const v = Number(n ?? 0);
  for (const [unit, size] of /** @type {const} */ ([["G", 1e9], ["M", 1e6], ["k", 1e3]])) {
    if (v >= size) return `${v / size >= 100 ? Math.round(v / size) : (v / size).toFixed(1)}${unit}`;
  }
  return String(Math.round(v));
}

/** usd is an amount of money; small amounts keep two digits that say something. @param {number | undefined} n */
export function usd(n) {
  const v = n ?? 0;
  if (v === 0) return "$0";
  if (v < 0.01) return "< $0.01";
  return `$${v < 100 ? v.toFixed(2) : whole.format(Math.round(v))}`;
}

/** percent of a whole. @param {number} part @param {number} of */
export const percent = (part, of) => (of > 0 ? `${Math.round((100 * part) / of)} %` : "–");

/** plural counts things. @param {number} n @param {string} one */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/**
 * picture describes an image in a line: [picture shot.png, PNG 800×600, 41 KB].
 * @param {import("./types.d.ts").Image} i
 */
export function picture(i) {
  const bytes = Number(i.bytes);
  const size = bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} KB`;
  const format = i.media_type.replace(/^image\//, "").toUpperCase();
  return `[picture ${i.name || "without a name"}, ${format} ${i.width}×${i.height}, ${size}]`;
}

/** ago is how long ago a time was, roughly. @param {string | undefined} time */
export function ago(time) {
  if (!time) return "";
  const s = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (s < 60) return "just now";
  return `${lasts(s)} ago`;
}

/** lasts is a duration in its largest unit. @param {number} s seconds */
export function lasts(s) {
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** until is how long it is until a time. @param {string} time */
export const until = (time) => lasts(Math.max(0, (Date.parse(time) - Date.now()) / 1000));

const two = (/** @type {number} */ n) => String(n).padStart(2, "0");

/** clock is a time of day, with the day if it is not today. @param {string | Date | undefined} time */
export function clock(time) {
  if (!time) return "";
  const t = new Date(time);
  const day = `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
  const hour = `${two(t.getHours())}:${two(t.getMinutes())}`;
  return new Date().toDateString() === t.toDateString() ? hour : `${day} ${hour}`;
}

/** tail is a path's last two elements. @param {string | undefined} path */
export const tail = (path) => (path ?? "").split("/").filter(Boolean).slice(-2).join("/");
