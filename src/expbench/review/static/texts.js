// Everything that is shown goes through here: values are hostile, become texts and never markup, and signs that
// hide or reorder text are made visible.

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const HIDDEN = /[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/g;
const DEEPEST = 6;

export function printable(value) {
  return String(value)
    .replace(/\r\n/g, "\n")
    .replace(CONTROL, (sign) => String.fromCharCode(sign === "\x7f" ? 0x2421 : 0x2400 + sign.charCodeAt(0)))
    .replace(HIDDEN, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

export function show(element, value) {
  element.textContent = printable(value);
  return element;
}

// An element with a class, a text and children; what is undefined is left out.
export function make(tag, { name, text, on, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) show(made, text);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  for (const [event, act] of Object.entries(on ?? {})) made.addEventListener(event, act);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(text, act, more = {}) {
  return make("button", { type: "button", name: "plain", text, on: { click: act }, ...more });
}

// A value of a field as a reader wants it: lists as lists, named values by their names.
export function valueOf(value, depth = 0) {
  if (value === null || typeof value !== "object") {
    return make("div", { name: "text", text: value === null ? "–" : value });
  }
  if (depth >= DEEPEST) return make("pre", { text: JSON.stringify(value) });
  if (Array.isArray(value)) {
    return make("ul", {}, ...value.map((each) => make("li", {}, valueOf(each, depth + 1))));
  }
  const pairs = Object.entries(value).flatMap(([key, each]) => [
    make("dt", { text: key }),
    make("dd", {}, valueOf(each, depth + 1)),
  ]);
  return make("dl", {}, ...pairs);
}

export function clockText(seconds) {
  const whole = Math.floor(seconds);
  const pad = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}
