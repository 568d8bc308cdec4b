// The search of the site: every word must occur; pages and headings that have it come first. "/" goes to the box.
const form = document.querySelector("header form");
const box = form.querySelector("input");
const found = document.getElementById("found");
const pages = document.querySelector("nav details");
const most = 12;
const mostOfPage = 3;

form.hidden = false;
// A wide window has room for the list of pages, a phone has not.
pages.open = matchMedia("(min-width: 60rem)").matches;

function score(entry, words) {
  const [page, heading, , text] = entry.map((part) => part.toLowerCase());
  let sum = 0;
  for (const word of words) {
    const points = (page.includes(word) ? 8 : 0) + (heading.includes(word) ? 10 : 0) + (text.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

function excerpt(text, words) {
  const at = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0).sort((a, b) => a - b)[0] ?? 0;
  const start = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 40)));
  const end = start + 150 < text.length ? text.lastIndexOf(" ", start + 150) : text.length;
  return (start > 0 ? "… " : "") + text.slice(start, end).trim() + (end < text.length ? " …" : "");
}

// Words become elements, never markup.
function marked(text, words, into) {
  const lower = text.toLowerCase();
  let done = 0;
  while (done < text.length) {
    const next = words.map((word) => [lower.indexOf(word, done), word.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0];
    if (!next) break;
    into.append(text.slice(done, next[0]));
    into.append(Object.assign(document.createElement("mark"), { textContent: text.slice(next[0], next[0] + next[1]) }));
    done = next[0] + next[1];
  }
  into.append(text.slice(done));
}

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const hits = searchIndex.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0);
  hits.sort((a, b) => b[0] - a[0]);
  const ofPage = {};
  const shown = hits.filter(([, [page]]) => (ofPage[page] = (ofPage[page] ?? 0) + 1) <= mostOfPage);
  for (const [, [page, heading, address, text]] of shown.slice(0, most)) {
    const link = Object.assign(document.createElement("a"), { href: address });
    link.setAttribute("role", "option");
    link.append(Object.assign(document.createElement("b"), { textContent: page }), heading ? ` · ${heading}` : "");
    const small = document.createElement("small");
    marked(excerpt(text, words), words, small);
    link.append(small);
    found.append(link);
  }
  if (hits.length === 0) found.append(Object.assign(document.createElement("p"), { textContent: "Nothing has all these words." }));
}

function move(step) {
  const links = [...found.querySelectorAll("a")];
  if (links.length === 0) return;
  const at = links.findIndex((link) => link.getAttribute("aria-selected") === "true");
  const next = (at + step + links.length) % links.length;
  links.forEach((link, place) => link.setAttribute("aria-selected", place === next));
  links[next].scrollIntoView({ block: "nearest" });
}

box.addEventListener("input", show);
box.addEventListener("focus", show);
box.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    box.value = "";
    box.blur();
    show();
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  (found.querySelector("a[aria-selected=true]") ?? found.querySelector("a"))?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!found.contains(event.target) && event.target !== box) found.hidden = true;
});
