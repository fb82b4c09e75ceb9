(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const {said, planOf, given, someone, protectedText, asText, fileOf, fileName, sent} = sharedBy(study);
  const LOCK = 250; // ms after an answer in which a second click, meant for the same, is none
  const at = (id) => document.getElementById(id);

  function made(tag, properties = {}, ...inside) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node) node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...inside.filter((one) => one !== null));
    return node;
  }

  // ---- what is known of a person, kept on this device
  const key = `thali:${study.build}:${given}`;
  const store = (() => {
    const memory = new Map(); // what the browser does not keep
    const tried = (what, otherwise) => {
      try {
        return what();
      } catch {
        return otherwise;
      }
    };
    return {
      get: (name) => memory.get(name) ?? tried(() => localStorage.getItem(name), null),
      set(name, value) {
        memory.set(name, value);
        if (tried(() => localStorage.setItem(name, value) ?? true, false)) memory.delete(name);
      },
      remove(name) {
        memory.delete(name);
        tried(() => localStorage.removeItem(name));
      },
      names: (begin) => tried(() => Object.keys(localStorage), []).filter((name) => name.startsWith(begin)),
      isHere: (value) => tried(() => sessionStorage.getItem(key) === value, false),
      beHere: (value) => tried(() => sessionStorage.setItem(key, value)),
    };
  })();

  function fresh() {
    return {
      ...someone(),
      at: 0, // the step
      picks: [], // of the trial that is open
      ended: false,
      sent: false,
      saves: 0, // by which a tab knows that another one went on
    };
  }

  function kept() {
    const text = store.get(key);
    if (text === null) return null;
    try {
      const found = JSON.parse(text);
      return Number.isInteger(found.seed) && Array.isArray(found.rows) ? found : null;
    } catch {
      return null;
    }
  }

  let state = fresh(), plan = planOf(state.seed), shownAt = 0, lockedUntil = 0;
  let sending = null, saved = null; // the seeds of whose answers are on the way, and of whose were saved

  function take(other) {
    state = other;
    plan = planOf(state.seed);
  }

  function save() {
    state.saves += 1;
    store.set(key, JSON.stringify(state));
    store.beHere(String(state.seed));
  }

  // Another tab, or this page as it comes back by the button of the browser, may be behind what is kept.
  function isBehind() {
    const other = kept();
    if (other === null) return false;
    if (other.seed === state.seed && other.saves <= state.saves) return false;
    take(other);
    show();
    return true;
  }

  const done = () => state.rows.filter((row) => plan.steps[row.step].part !== "practice").length;

  function download() {
    const link = made("a", {download: fileName(state), href: URL.createObjectURL(fileOf(state, plan))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    saved = state.seed;
    leaveTo(true);
  }

  async function copy() {
    const text = at("answers");
    try {
      await navigator.clipboard.writeText(asText(state, plan));
      tell("copied");
    } catch {
      text.closest("details").open = true;
      text.select();
      tell("select");
    }
  }

  async function send() {
    const {seed} = state; // somebody else may have begun before the address answers
    if (sending === seed || state.sent) return;
    sending = seed;
    status("sending");
    const arrived = await sent(state, plan); // if not, the answers stay
    if (sending === seed) sending = null;
    if (state.seed !== seed) return;
    if (arrived) {
      state.sent = true;
      save();
    }
    status(arrived ? "sent" : "not_sent");
  }

  function status(name) {
    const line = at("status");
    if (line === null) return;
    line.textContent = said(name);
    at("again").hidden = name !== "not_sent";
    at("hand-over").hidden = name !== "not_sent";
    leaveTo(name === "sent" || saved === state.seed);
  }

  // The next person may begin where the answers of the last one have gone or been saved.
  function leaveTo(isSafe) {
    const another = at("another");
    if (another !== null) another.hidden = !isSafe;
  }

  function tell(name, facts) {
    at("said").textContent = said(name, facts);
    const line = at("told");
    if (line !== null) line.textContent = said(name, facts);
  }

  // ---- pages
  const isLocked = () => performance.now() < lockedUntil;

  function lock() {
    lockedUntil = performance.now() + LOCK;
    const main = at("main");
    delete main.dataset.ready;
    setTimeout(() => !isLocked() && (main.dataset.ready = ""), LOCK + 1);
  }

  function button(text, act, className = "plain") {
    const node = made("button", {type: "button", className, textContent: text});
    node.addEventListener("click", (event) => {
      if (event.detail < 2 && !isLocked()) act();
    });
    return node;
  }

  const paragraphs = (texts) => texts.map((text) => made("p", {textContent: text, dir: "auto"}));

  function page(className, title, ...inside) {
    const heading = made("h1", {tabIndex: -1, textContent: title, dir: "auto"});
    at("main").className = className;
    at("main").replaceChildren(heading, ...inside.filter((one) => one !== null));
    return heading;
  }

  function show(takesFocus = true) {
    const step = plan.steps[state.at], all = plan.all, isOver = state.ended || step.page === "end";
    at("bar").max = all;
    at("bar").value = done();
    at("done").textContent = said("progress", {done: done(), all});
    at("progress").hidden = !state.rows.length && !step.part;
    at("stop").hidden = isOver || !state.rows.length;
    lock();
    const heading = isOver ? endPage() : step.part ? trial(step) : pages[step.page]();
    shownAt = performance.now();
    if (takesFocus) {
      heading.focus({preventScroll: true});
      window.scrollTo(0, 0);
    }
  }

  function forward() {
    if (isBehind()) return;
    state.at += 1;
    state.picks = [];
    if (plan.steps[state.at].page === "end") state.ended = true;
    save();
    show();
  }

  const pages = {
    consent: () =>
      page("text", said("consent_title"), ...paragraphs(study.consent), made("div", {className: "below wide"},
        button(said("agree"), forward, "main"), button(said("disagree"), refuse))),
    start() {
      const lines = study.instructions.length ? study.instructions : [said("welcome")];
      const count = made("p", {className: "soft", textContent: said("how_many", {all: plan.all})});
      return page("text", study.title, ...paragraphs(lines), count, made("div", {className: "below wide"},
        button(said("start"), begin, "main")));
    },
    questions: questionsPage,
    practice_over: () => pause("practice_over"),
    pause: () => pause("pause"),
  };

  function pause(name) {
    const text = made("p", {textContent: said(name, {done: done(), all: plan.all})});
    return page("text", said("next"), text, made("div", {className: "below wide"}, button(said("next"), forward, "main")));
  }

  function begin() {
    try {
      history.pushState({thali: true}, ""); // the button of the browser comes back to here
    } catch {} // where a file has no history
    forward();
  }

  function refuse() {
    page("text", study.title, made("p", {textContent: said("not_taking_part")})).focus();
  }

  function questionsPage() {
    const form = made("form", {noValidate: true});
    const asked = [
      ...(study.asks_person && !given ? [{name: "", ask: said("person"), kind: "text", required: true, longest: 64}] : []),
      ...study.questions,
    ];
    const fields = asked.map((question, k) => field(question, k));
    const submit = made("button", {type: "submit", className: "main", textContent: said("next")});
    form.append(...fields.map((one) => one.node), made("div", {className: "below wide"}, submit));
    form.addEventListener("input", () => {
      for (const {question, value} of fields) if (question.name) state.facts[question.name] = value();
      save();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (isLocked()) return;
      const wrong = fields.filter((one) => !one.check());
      if (wrong.length) {
        wrong[0].focus();
        return;
      }
      for (const {question, value} of fields) {
        if (question.name) state.facts[question.name] = value();
        else state.person = protectedText(value());
      }
      forward();
    });
    return page("text", said("about_you"), form);
  }

  function field(question, k) {
    const id = `question-${k}`, old = question.name ? state.facts[question.name] ?? "" : "";
    const fault = made("p", {className: "fault", id: `${id}-fault`});
    const text = question.required ? question.ask : `${question.ask} (${said("optional")})`;
    const usual = {id, "aria-describedby": `${id}-fault`, autocomplete: "off"};
    let node, input, value;
    if (question.kind === "choice") {
      const choices = question.choices.map((choice, n) => made("label", {className: "choice"},
        made("input", {type: "radio", name: id, value: choice, id: `${id}-${n}`, checked: choice === old, "aria-describedby": `${id}-fault`}),
        made("span", {textContent: choice, dir: "auto"})));
      node = made("fieldset", {}, made("legend", {textContent: text, dir: "auto"}), ...choices, fault);
      input = choices[0].firstChild;
      value = () => node.querySelector("input:checked")?.value ?? "";
    } else {
      const of = {number: {type: "text", inputMode: "decimal"}, text: {type: "text", maxLength: question.longest ?? 500}};
      input = made("input", {...usual, ...of[question.kind], value: old});
      node = made("div", {className: "field"}, made("label", {className: "ask", htmlFor: id, textContent: text, dir: "auto"}), input, fault);
      value = () => input.value.trim().slice(0, 500);
      if (question.kind === "number") value = () => input.value.trim().replace(",", ".");
    }
    function check() {
      const found = value(), number = Number(found), isNumber = question.kind === "number";
      const {least = null, most = null} = question;
      const isOutside = isNumber && found !== "" &&
        (!Number.isFinite(number) || (least !== null && number < least) || (most !== null && number > most));
      const limits = {least: least ?? "−∞", most: most ?? "∞"};
      fault.textContent = found === "" && question.required ? said("missing") : isOutside ? said("not_a_number", limits) : "";
      input.setAttribute("aria-invalid", String(fault.textContent !== ""));
      return fault.textContent === "";
    }
    return {question, node, value, check, focus: () => input.focus()};
  }

  // ---- trials
  const content = (label) => made("span", {className: "label", textContent: label, dir: "auto"});

  // Saves what was picked so far of the trial, and shows it.
  function picked(picks) {
    if (isBehind()) return;
    state.picks = picks;
    save();
    const step = plan.steps[state.at], focused = document.activeElement?.id;
    lock();
    trial(step);
    const heading = at("main").querySelector("h1");
    at("said").textContent = heading.textContent; // which may be another question now
    (at(focused) ?? heading).focus({preventScroll: true});
  }

  function answer(picks) {
    if (isBehind()) return;
    state.rows.push({step: state.at, picks, rt: performance.now() - shownAt});
    forward();
  }

  const asks = {
    pairs: (step, place) => answer([place]),
    best: (step, place) => answer([place]),
    "odd-one-out": (step, place) => answer([place]),
    "best-worst"(step, place) {
      const [best] = state.picks;
      if (best === undefined) picked([place]);
      else if (best === place) picked([]);
      else answer([best, place]);
    },
    ranking(step, place) {
      const there = state.picks.indexOf(place);
      if (there >= 0) return picked(state.picks.slice(0, there));
      const picks = [...state.picks, place], left = step.order.filter((other) => !picks.includes(other));
      return picked(left.length === 1 ? [...picks, left[0]] : picks);
    },
    choice(step, place) {
      if (study.dual && place >= 0) picked(state.picks[0] === place ? [] : [place]);
      else answer([place]);
    },
  };

  function trial(step) {
    const {kind} = study, [first] = state.picks, picksMore = ["best-worst", "ranking"].includes(kind) || study.dual;
    const title = kind === "best-worst" && first !== undefined ? said("question_worst") : said("question");
    const part = step.part === "practice" ? made("span", {className: "part", textContent: said("practice")}) : null;
    if (kind === "ratings") return rating(step, title, part);
    const count = step.order.length, size = count === 2 ? "two" : count === 4 && kind !== "choice" ? "four" : "";
    const options = made("div", {className: `options ${size}`});
    step.order.forEach((place, k) => {
      const node = button("", () => asks[kind](step, place), "option");
      node.id = `option-${k}`;
      if (kind === "choice") {
        node.append(...product(step.shown[place]));
        node.classList.add("product");
      } else node.append(content(study.options[step.shown[place]]));
      const rank = state.picks.indexOf(place);
      if (picksMore) node.setAttribute("aria-pressed", String(rank >= 0));
      const badge = rank < 0 ? "" : kind === "ranking" ? String(rank + 1) : kind === "best-worst" ? said("marked_best") : "";
      if (badge) node.append(made("span", {className: "badge", textContent: badge}));
      if (k < 9) {
        node.setAttribute("aria-keyshortcuts", String(k + 1));
        if (!badge) node.append(made("span", {className: "key", "aria-hidden": "true", textContent: String(k + 1)}));
      }
      options.append(node);
    });
    const below = made("div", {className: "below"});
    const zero = (text, act) => {
      const node = button(text, act, "plain");
      node.setAttribute("aria-keyshortcuts", "0");
      below.append(node);
    };
    if (kind === "pairs" && study.no_preference) zero(said("no_preference"), () => answer([-1]));
    if (step.none && !(study.dual && first !== undefined)) zero(said("none"), () => asks.choice(step, -1));
    const further = [];
    if (kind === "ranking") {
      const next = button(said("next"), () => answer(state.picks), "main");
      next.disabled = state.picks.length < count;
      next.id = "next";
      below.append(next);
      further.push(made("p", {className: "soft", textContent: said("undo")}));
    }
    if (study.dual && first !== undefined) {
      const really = made("p", {className: "really", id: "really", textContent: said("question_buy")});
      further.push(really);
      below.append(...[["yes", 1], ["no", 0]].map(([word, value]) => {
        const node = button(said(word), () => answer([first, value]), "main");
        node.setAttribute("aria-describedby", "really");
        return node;
      }));
    }
    const heading = page("trial", title, part, options, ...further, below.childNodes.length ? below : null);
    if (part) heading.before(part);
    return heading;
  }

  function product(cells) {
    return study.attributes.map((name, i) => made("span", {className: "row"},
      made("span", {className: "name", textContent: name, dir: "auto"}), made("span", {className: "unseen", textContent: ": "}),
      made("span", {className: "level", textContent: cells[i], dir: "auto"}), made("span", {className: "unseen", textContent: ". "})));
  }

  function rating(step, title, part) {
    const two = made("ul", {className: "shown"}, ...step.order.map((place) =>
      made("li", {}, content(study.options[step.shown[place]]))));
    const steps = Array.from({length: study.scale.steps}, (_, k) => k + 1);
    const ends = {1: study.scale.low, [study.scale.steps]: study.scale.high};
    const scale = made("div", {className: "scale", role: "group", "aria-label": title}, ...steps.map((value) => {
      const node = button(String(value), () => answer([value]), "step");
      if (ends[value]) node.setAttribute("aria-label", `${value}: ${ends[value]}`);
      if (value <= 10) node.setAttribute("aria-keyshortcuts", String(value % 10));
      return node;
    }));
    const labels = made("div", {className: "ends", "aria-hidden": "true"},
      ...[study.scale.low, study.scale.high].map((text) => made("span", {textContent: text, dir: "auto"})));
    const heading = page("trial", title, part, two, made("div", {className: "rated"}, scale, labels));
    if (part) heading.before(part);
    return heading;
  }

  document.addEventListener("keydown", (event) => {
    const step = plan.steps[state.at];
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.repeat && event.key === "Enter") event.preventDefault();
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || isTyping || state.ended || !step.part) return;
    const arrows = step.order.length === 2 && study.kind !== "ratings" ? {ArrowLeft: "1", ArrowRight: "2"} : {};
    const pressed = arrows[event.key] ?? event.key;
    if (!/^[0-9]$/.test(pressed)) return;
    const node = at("main").querySelector(`button[aria-keyshortcuts="${pressed}"]`);
    if (node === null) return;
    event.preventDefault();
    node.click();
  });

  // ---- the end
  function endPage() {
    const isDone = plan.steps[state.at].page === "end", posts = study.post !== "" && isDone;
    const thanks = !isDone ? [said("stopped", {done: done(), all: plan.all})] : study.thanks.length ? study.thanks : [said("end")];
    const more = made("div", {id: "hand-over", hidden: posts}, made("div", {className: "below wide"},
      button(said("save"), download, "main"), button(said("copy"), copy)),
      made("p", {className: "soft", id: "told"}),
      made("details", {}, made("summary", {textContent: said("answers")}),
        made("textarea", {className: "answers", id: "answers", readOnly: true, "aria-label": said("answers"), value: asText(state, plan)})));
    const inside = [...paragraphs(thanks)];
    if (posts) {
      const again = button(said("send_again"), send, "plain");
      again.id = "again";
      again.hidden = true;
      inside.push(made("p", {id: "status", role: "status"}), again);
    } else {
      inside.push(made("p", {textContent: said("hand_in")}));
    }
    inside.push(more);
    if (!isDone) inside.push(button(said("go_back"), goBack));
    if (!given) {
      const another = button(said("another"), startAnew, "quiet");
      another.id = "another";
      another.hidden = posts;
      inside.push(made("div", {className: "below"}, another));
    }
    const heading = page("text", isDone ? said("end_title") : study.title, ...inside);
    if (posts) {
      if (state.sent) status("sent");
      else send();
    }
    return heading;
  }

  function goBack() {
    state.ended = false;
    save();
    show();
  }

  // What another person has answered here stays on the device.
  function startAnew() {
    store.set(`${key}:${state.person}:${state.seed}`, JSON.stringify(state));
    store.remove(key);
    take(fresh());
    show();
  }

  function resumePage() {
    const facts = {done: done(), all: plan.all};
    return page("text", said("resume_title"), made("p", {textContent: said("resume", facts)}), made("div", {className: "below wide"},
      button(said("resume_go_on"), () => {
        save();
        show();
      }, "main"),
      button(said("resume_new"), startAnew), button(said("save"), download)));
  }

  // ---- start
  document.addEventListener("pointermove", (event) => {
    if (event.movementX || event.movementY) at("main").classList.add("moved");
  });
  at("stop").textContent = said("stop");
  at("stop").addEventListener("click", () => {
    if (isLocked() || isBehind()) return;
    state.ended = true;
    save();
    show();
  });
  window.addEventListener("popstate", () => {
    if (kept() === null || state.ended) return;
    try {
      history.pushState({thali: true}, "");
    } catch {}
    tell("kept");
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) isBehind();
  });
  window.addEventListener("storage", (event) => {
    if (event.key === key) isBehind();
  });

  const before = kept();
  if (before !== null) take(before);
  if (before !== null && !before.ended && !store.isHere(String(before.seed)) && !given && before.at > 0) {
    lock();
    resumePage();
  } else {
    show(before !== null);
  }
})();
