// The app's script: it fetches pages with the key, sends forms, follows runs. Text reaches the page as textContent;
// HTML only from the server, which has escaped every label.
"use strict";

const main = document.querySelector("main");
const live = document.getElementById("live");
const texts = JSON.parse(document.body.dataset.texts);  // in the language of the browser
let following = null;  // what ends the streams of the runs that are shown

// the key ------------------------------------------------------------------------------------------------------

function takeKey() {
  const found = /^#key=(.+)$/.exec(location.hash);
  if (found) {
    localStorage.setItem("thali-key", found[1]);
    history.replaceState(null, "", location.pathname);
  }
}

function askForKey(wasWrong) {
  const template = document.getElementById("ask-key");
  main.replaceChildren(template.content.cloneNode(true));
  main.querySelector("[role=alert]").hidden = !wasWrong;
  const field = main.querySelector("input");
  main.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    localStorage.setItem("thali-key", field.value.trim());
    show();
  });
  field.focus();
}

async function ask(address, options = {}) {
  const headers = { ...options.headers, "X-Thali-Key": localStorage.getItem("thali-key") || "" };
  try {
    return await fetch(address, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return new Response(
      JSON.stringify({ problem: texts.no_answer }),
      { status: 503 },
    );
  }
}

// pages --------------------------------------------------------------------------------------------------------

async function show() {
  if (following) following.abort();
  const hadKey = Boolean(localStorage.getItem("thali-key"));
  const path = location.pathname === "/" ? "/api/home" : "/api" + location.pathname;
  const response = hadKey ? await ask(path) : { status: 401 };
  if (response.status === 401) return askForKey(hadKey);
  if (!response.ok) {
    main.replaceChildren();
    return complain(main, (await response.json()).problem);
  }
  main.innerHTML = await response.text();
  document.title = (main.querySelector("h1")?.textContent || "thali") + " · thali";
  prepare();
}

function go(path) {
  if (path !== location.pathname) history.pushState(null, "", path);
  return show().then(() => {
    scrollTo(0, 0);
    const heading = main.querySelector("h1");
    if (focusFault()) return;
    if (heading) { heading.tabIndex = -1; heading.focus({ preventScroll: true }); }
  });
}

// Where a sentence names a field, it stands there: the folded group is open, and the field has the focus.
function focusFault() {
  const field = main.querySelector("[data-fault] :is(input, select, textarea)");
  if (!field) return false;
  field.focus();
  field.closest(".field").scrollIntoView({ block: "center" });
  return true;
}

function complainOf(form, found) {
  for (const old of form.querySelectorAll("[data-fault]")) {
    delete old.dataset.fault;
    old.querySelector(".problem")?.remove();
    for (const field of old.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  }
  form.querySelector(":scope > .problem")?.remove();
  const shown = [...form.querySelectorAll("[name], [data-word]")].filter((field) => !field.closest("[hidden]"));
  const field = shown.find((each) => (found.fields || []).includes(each.name || each.dataset.word));
  if (!field) return complain(form, found.problem);
  const place = field.closest(".field");
  for (let folded = field.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  place.dataset.fault = "";
  field.setAttribute("aria-invalid", "true");
  complain(place, found.problem);
  focusFault();
}

function complain(place, sentence) {
  let box = place.querySelector(":scope > .problem");
  if (!box) {
    box = document.createElement("p");
    box.className = "problem";
    box.setAttribute("role", "alert");
    place.append(box);
  }
  box.textContent = sentence;
  box.scrollIntoView({ block: "nearest" });
}

function prepare() {
  for (const form of main.querySelectorAll("form[data-keep]")) { if (!form.querySelector("[data-fault]")) restore(form); }
  for (const group of main.querySelectorAll("[data-model]")) chooseMethod(group);
  chooseModel();
  chooseKind();
  for (const field of main.querySelectorAll("select[data-more]")) chooseMore(field);
  for (const frame of main.querySelectorAll("iframe[data-what]")) {
    address(frame.dataset.what).then((found) => { if (found) frame.src = found; });
  }
  document.body.classList.toggle("filled-page", Boolean(main.querySelector(".filled")));
  following = new AbortController();
  for (const run of main.querySelectorAll("[data-follow]")) follow(run, following);
}

// What was typed and not sent stays, whether the page is left, loaded again or come back to.
function keptOf(form) { return `thali-typed:${form.dataset.keep}`; }

function keep(form) {
  const state = [...form.elements].filter((each) => each.id && each.type !== "file").map((each) =>
    [each.id, each.type === "checkbox" ? each.checked : each.value]);
  const ticked = [...form.querySelectorAll("input:checked:not([id])")].map((each) => [each.name, each.value]);
  sessionStorage.setItem(keptOf(form), JSON.stringify({ state, ticked }));
}

function restore(form) {
  const kept = JSON.parse(sessionStorage.getItem(keptOf(form)) || "null");
  if (!kept) return;
  for (const [id, value] of kept.state) {
    const field = document.getElementById(id);
    if (!field || !form.contains(field)) continue;
    if (field.type === "checkbox") field.checked = value; else field.value = value;
  }
  for (const field of form.querySelectorAll("input:is([type=radio], [type=checkbox]):not([id])")) {
    field.checked = kept.ticked.some(([name, value]) => name === field.name && value === field.value);
  }
}

// what is sent -------------------------------------------------------------------------------------------------

async function post(path, body, place, headers = {}) {
  const response = await ask("/api" + path, { method: "POST", body, headers });
  const found = await response.json();
  if (response.status === 401) { askForKey(true); return null; }
  if (!response.ok) {
    if (place.tagName === "FORM") complainOf(place, found); else complain(place, found.problem);
    return null;
  }
  return found;
}

async function act(button) {
  if (button.dataset.sure && !confirm(button.dataset.sure)) return;
  const place = button.closest("form, section, li") || main;
  button.disabled = true;
  main.setAttribute("aria-busy", "true");
  const found = await post(button.dataset.act, JSON.stringify(button.dataset.name ? { name: button.dataset.name } : {}), place);
  main.removeAttribute("aria-busy");
  button.disabled = false;
  if (found) await go(found.go);
}

async function send(form) {
  const values = {};
  for (const field of form.querySelectorAll("[name]")) {
    if (field.type === "file" || field.closest("[hidden]")) continue;
    if (field.type === "radio" && !field.checked) continue;
    if (field.type === "checkbox") {
      const between = field.dataset.line === undefined ? "," : "\n";
      if (field.checked) values[field.name] = (values[field.name] ? values[field.name] + between : "") + field.value;
    } else if (field.dataset.of !== undefined) {
      if (field.value) values[field.name] = (values[field.name] || "") + `${field.dataset.of}=${field.value}\n`;
    } else if (field.dataset.more !== undefined && field.value === "=other") {
      values[field.name] = field.parentElement.querySelector("[data-other]").value;
    } else {
      values[field.name] = field.value;
    }
  }
  const empty = [...form.querySelectorAll("select[data-more]")].find((field) =>
    field.value === "=other" && !field.closest("[hidden]") && !values[field.name].trim());
  if (empty) { complainOf(form, { problem: texts.own_value, fields: [empty.name] }); return; }
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  form.setAttribute("aria-busy", "true");
  const found = (await sendFiles(form, values)) && (await post(form.dataset.post, JSON.stringify(values), form));
  form.removeAttribute("aria-busy");
  for (const button of buttons) button.disabled = false;
  if (found && form.dataset.keep) sessionStorage.removeItem(keptOf(form));
  if (found) await go(found.go);
}

async function sendFiles(form, values) {
  for (const field of form.querySelectorAll("input[type=file][data-word]")) {
    const file = field.files[0];
    if (!file || field.closest("[hidden]")) continue;
    const path = form.dataset.post.replace(/\/fit$/, "/file/") + field.dataset.word;
    if (!(await post(path, file, form, { "X-Name": encodeURIComponent(file.name) }))) return false;
    values[field.dataset.word] = "file";
  }
  return true;
}

async function drop(file, place) {
  main.setAttribute("aria-busy", "true");
  say(texts.reading.replace("{name}", () => file.name));
  const found = await post("/upload", file, place, { "X-Name": encodeURIComponent(file.name) });
  main.removeAttribute("aria-busy");
  say("");
  if (found) await go(found.go);
}

function say(text) { if (live.textContent !== text) live.textContent = text; }

// The address of the study, without that of one of its screens.
function study() { return location.pathname.split("/").slice(0, 3).join("/"); }

// files --------------------------------------------------------------------------------------------------------

async function address(what) {
  const found = await post(study() + "/ticket", JSON.stringify({ what }), main);
  return found && found.address;
}

async function download(button) {
  const found = await address(button.dataset.download);
  if (!found) return;
  const link = document.createElement("a");
  link.href = found;
  if (button.dataset.open) {
    link.target = "_blank";
    link.rel = "noopener";
  } else {
    link.download = "";
  }
  document.body.append(link);
  link.click();
  link.remove();
}

// runs ---------------------------------------------------------------------------------------------------------

async function follow(place, mine) {
  const bar = place.querySelector("progress"), text = place.querySelector("[data-text]");
  const hint = place.querySelector("[data-hint]");
  let first = null, tenth = -1;
  try {
    const response = await ask(`/api${study()}/${place.dataset.follow}/events`, { signal: mine.signal });
    if (!response.ok) throw new Error("gone");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      rest += value;
      const events = rest.split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const found = JSON.parse(event.slice("data: ".length));
        first = first || found.state;
        text.textContent = found.text;
        if (hint && found.hint && hint.textContent !== found.hint) { hint.textContent = found.hint; hint.hidden = false; }
        if (bar && found.total) { bar.max = found.total; bar.value = found.done; }
        const now = found.total ? Math.floor(10 * found.done / found.total) : -1;
        if (now !== tenth) { tenth = now; say(found.text); }
        if (found.state !== first) { say(found.text); await show(); focusFault(); return; }
      }
    }
    if (mine === following && !mine.signal.aborted) setTimeout(show, 300);
  } catch (error) {
    if (error.name === "AbortError" || mine.signal.aborted) return;
    text.textContent = texts.fit_goes_on;
    setTimeout(() => { if (mine === following) follow(place, mine); }, 2000);
  }
}

// choices ------------------------------------------------------------------------------------------------------

function chooseModel() {
  const chosen = main.querySelector("input[name=model]:checked");
  for (const group of main.querySelectorAll("[data-model]")) group.hidden = !chosen || group.dataset.model !== chosen.value;
}

function chooseKind() {
  const field = main.querySelector("#kind");
  for (const group of main.querySelectorAll("[data-kind]")) group.hidden = group.dataset.kind !== field.value;
}

function chooseMethod(group) {
  const field = group.querySelector("select[name=method]");
  if (!field) return;
  for (const row of group.querySelectorAll("[data-methods]")) {
    row.hidden = Boolean(row.dataset.methods && field.value) && !row.dataset.methods.split(" ").includes(field.value);
  }
}

function chooseMore(field) {
  for (const more of field.parentElement.querySelectorAll("[data-for]")) more.hidden = more.dataset.for !== field.value;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(link.pathname); return; }
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.act) act(button);
  if (button.dataset.download) download(button);
});
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-post]");
  if (form) { event.preventDefault(); send(form); }
});
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    const form = event.target.closest("form[data-keep]");
    if (form) keep(form);
  });
}
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.name === "model") chooseModel();
  if (field.id === "kind") chooseKind();
  if (field.name === "method") chooseMethod(field.closest("[data-model]"));
  if (field.dataset.more !== undefined) chooseMore(field);
  if (field.id === "upload" && field.files.length) drop(field.files[0], field.closest("section"));
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const place = main.querySelector(".drop");
    if (!place || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop") drop(event.dataTransfer.files[0], place.closest("section"));
  });
}
addEventListener("popstate", show);
addEventListener("hashchange", () => { if (location.hash.startsWith("#key=")) { takeKey(); show(); } });
takeKey();
show();
