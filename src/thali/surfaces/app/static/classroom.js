// The teacher's page of a class: it asks every second what is known, with the key, and shows it. All text is text.
"use strict";

const words = JSON.parse(document.body.dataset.words);
const at = (id) => document.getElementById(id);
const EACH = 1000;  // ms between two looks
let shown = "";  // the rows that the table has

function takeKey() {
  const found = /^#key=(.+)$/.exec(location.hash);
  if (!found) return;
  localStorage.setItem("thali-class-key", found[1]);
  history.replaceState(null, "", location.pathname);  // the address may be on the wall
}

async function ask(address) {
  const headers = { "X-Thali-Key": localStorage.getItem("thali-class-key") || "" };
  try {
    return await fetch(address, { headers });
  } catch {
    return null;
  }
}

const filled = (text, facts) => text.replace(/\{(\w+)\}/g, (found, name) => String(facts[name]));
const number = (value, digits = 0) =>
  value.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });

function cell(tag, text, className = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = className;
  return node;
}

// A bar up to the mean, and a line over the interval, beside those of the others.
function bar({ value, low, high }, most) {
  const node = cell("div", "", "bar"), full = cell("span", ""), line = cell("i", "");
  full.style.width = `${(100 * value) / most}%`;
  line.style.insetInlineStart = `${(100 * low) / most}%`;
  line.style.width = `${(100 * (high - low)) / most}%`;
  node.append(full, line);
  node.setAttribute("aria-hidden", "true");
  return node;
}

function board(found) {
  if (JSON.stringify(found.rows) === shown) return;
  shown = JSON.stringify(found.rows);
  const most = Math.max(...found.rows.map((row) => row.high)), isShare = found.is_ranking;
  const text = (value) => (isShare ? number(100 * value) : number(value, 1)), unit = isShare ? " %" : "";
  const rows = found.rows.map((row, k) => {
    const node = document.createElement("tr"), name = cell("th", row.label), picture = cell("td", "");
    name.scope = "row";
    name.dir = "auto";
    const ends = row.best === row.worst ? number(row.best) : `${number(row.best)}–${number(row.worst)}`;
    picture.append(cell("span", ends, "ends"), bar(row, most));
    node.append(cell("td", number(k + 1)), name, picture, cell("td", `${text(row.value)}${unit} (${text(row.low)}\u2060–\u2060${text(row.high)})`));
    return node;
  });
  at("board").hidden = !rows.length;
  at("board").tBodies[0].replaceChildren(...rows);
}

function show(found) {
  at("ask-key").hidden = true;
  at("room").hidden = false;
  document.title = `${found.title} · thali`;
  at("title").textContent = found.title;
  at("question").textContent = found.question === found.title ? "" : found.question;
  at("address").textContent = found.address;
  at("code").textContent = found.code;
  for (const name of ["people", "answers", "whole"]) at(name).textContent = number(found[name]);
  at("about").textContent = found.is_ranking ? words.leaderboard : words.most_alike;
  at("what").textContent = found.is_ranking ? words.option : words.pair;
  at("value").textContent = found.is_ranking ? words.worth : words.similarity;
  at("means").textContent = found.is_ranking ? words.means_worth : words.means_alike;
  at("seen").textContent = filled(found.seen ? words.seen : words.too_few, found);
  at("save").disabled = !found.answers;
  board(found);
  complain(found.trouble);
}

function complain(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

function askForKey(wasWrong) {
  at("room").hidden = true;
  at("ask-key").hidden = false;
  at("ask-key").querySelector("[role=alert]").hidden = !wasWrong;
  at("key").focus();
}

async function look() {
  const hadKey = Boolean(localStorage.getItem("thali-class-key"));
  const response = hadKey ? await ask("/api/standing") : { status: 401 };
  if (response?.status === 401) return askForKey(hadKey);
  if (response?.ok) show(await response.json());
  else complain(words.no_answer);
  setTimeout(look, EACH);
}

at("ask-key").addEventListener("submit", (event) => {
  event.preventDefault();
  localStorage.setItem("thali-class-key", at("key").value.trim());
  look();
});

at("save").addEventListener("click", async () => {
  const response = await ask("/api/answers.csv");
  if (!response?.ok) return complain(words.no_answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = "answers.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});

addEventListener("hashchange", takeKey);
takeKey();
look();
