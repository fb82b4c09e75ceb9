"use strict";
// What every page that asks shares: its words, chance, what one person sees, and the answers as text.
function sharedBy(study) {
  const {words} = study;
  const said = (name, facts = {}) =>
    words[name].replace(/\{\{|\}\}|\{(\w+)\}/g, (found, fact) => (fact ? String(facts[fact]) : found[0]));

  // ---- chance: the same seed, the same questionnaire
  function generator(seed) {
    let a = seed | 0;
    return () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  function shuffled(items, random) {
    const found = [...items];
    for (let i = found.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [found[i], found[j]] = [found[j], found[i]];
    }
    return found;
  }

  // What one person sees, in order: pages of text and trials.
  function planOf(seed) {
    const random = generator(seed);
    const version = Math.floor(random() * study.versions.length);
    const places = (trial) => trial.shown.map((_, k) => k);
    const sided = (trial) => ({...trial, order: study.sides ? shuffled(places(trial), random) : places(trial)});
    const tasks = study.order ? shuffled(study.versions[version], random) : [...study.versions[version]];
    const counted = tasks.map((trial) => ({...sided(trial), part: "main"}));
    for (const trial of study.catch) {
      const place = 1 + Math.floor(random() * counted.length);
      counted.splice(place, 0, {...sided(trial), part: "catch"});
    }
    const practice = study.practice.map((trial) => ({...sided(trial), part: "practice"}));
    const steps = [{page: "start"}];
    if (study.consent.length) steps.unshift({page: "consent"});
    if (study.questions.length || study.asks_person) steps.push({page: "questions"});
    steps.push(...practice);
    if (practice.length) steps.push({page: "practice_over"});
    counted.forEach((trial, k) => {
      steps.push(trial);
      if (study.breaks && (k + 1) % study.breaks === 0 && k + 1 < counted.length) steps.push({page: "pause"});
    });
    steps.push({page: "end"});
    let number = 0;
    for (const step of steps) if (step.part) step.number = ++number;
    return {version: version + 1, steps, all: counted.length, planned: tasks.length};
  }

  // ---- who answers: by the name in the address, else by one of chance
  const given = [...(new URLSearchParams(location.search).get("person") ?? "")]
    .filter((letter) => letter >= " ").join("").trim().slice(0, 64);

  function someone() {
    const letters = "23456789abcdefghjkmnpqrstuvwxyz";
    const drawn = crypto.getRandomValues(new Uint8Array(10));
    return {
      person: given || `p${[...drawn].map((number) => letters[number % letters.length]).join("")}`,
      seed: crypto.getRandomValues(new Uint32Array(1))[0],
      started: new Date().toISOString(),
      rows: [], // an answer each: {step, picks, rt}
      facts: {},
    };
  }

  // ---- the answers of somebody as text
  function cellsOf(state, plan, row) {
    const step = plan.steps[row.step], {picks} = row;
    const label = (place) => study.options[step.shown[place]];
    const inOrder = study.kind === "choice" ? [] : step.order.map(label);
    const padded = (labels) => Array.from({length: study.size}, (_, k) => labels[k] ?? "");
    const passed = step.part !== "catch" ? "" : picks[0] === step.answer ? "1" : "0";
    const first = [study.id, protectedText(state.person), state.seed, state.started, plan.version, step.part, step.number];
    const facts = study.questions.map((question) => protectedText(state.facts[question.name] ?? ""));
    const last = [Math.round(row.rt), ...(study.catch.length ? [passed] : []), plan.planned, ...facts];
    const full = (cells) => [...first, ...cells, ...last].map(String);
    switch (study.kind) {
      case "pairs":
        return full([...inOrder, picks[0] < 0 ? study.tie : label(picks[0])]);
      case "best":
      case "best-worst":
        return full([...padded(inOrder), ...picks.map(label)]);
      case "ranking":
        return full([...padded(inOrder), ...padded(picks.map(label))]);
      case "odd-one-out":
        return full([...inOrder, label(picks[0])]);
      case "ratings":
        return full([...inOrder, picks[0]]);
      default: {
        const cells = study.attributes.flatMap((_, i) => step.order.map((place) => step.shown[place][i]));
        const preferred = picks[0] < 0 ? "none" : String(step.order.indexOf(picks[0]) + 1);
        const choice = picks[1] === 0 ? "none" : preferred;
        const marks = [["held_out", step.held_out], ["has_none", step.none]].filter(([name]) => study[name]);
        return full([...cells, ...marks.map(([, mark]) => (mark ? 1 : 0)), choice, ...(study.dual ? [preferred] : [])]);
      }
    }
  }

  // A spreadsheet must not take what a person typed for a formula.
  function protectedText(text) {
    return /^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  }

  const cell = (text) => (/[",;\t\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  function asText(state, plan) {
    const rows = [study.columns, ...state.rows.map((row) => cellsOf(state, plan, row))];
    return rows.map((cells) => cells.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  const fileOf = (state, plan) => new Blob(["\ufeff", asText(state, plan)], {type: "text/csv"});
  const fileName = (state) => `${study.id}-${state.person.replace(/[^\p{L}\p{N}_-]+/gu, "_")}-${state.seed}.csv`;

  // Whether the address of the study took the answers.
  async function sent(state, plan) {
    try {
      const answer = await fetch(study.post, {
        method: "POST", body: asText(state, plan), headers: {"Content-Type": "text/plain;charset=UTF-8"},
        credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
      });
      return answer.ok;
    } catch {
      return false;
    }
  }

  return {said, planOf, given, someone, protectedText, cellsOf, asText, fileOf, fileName, sent};
}
