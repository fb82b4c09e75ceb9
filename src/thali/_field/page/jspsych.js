(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const {said, planOf, given, someone, cellsOf, fileOf, fileName, sent} = sharedBy(study);
  const LOCK = 250; // ms after a question appears in which a second click, meant for the last one, is none
  const {kind} = study, state = someone(), plan = planOf(state.seed);
  const all = plan.all, done = () => state.rows.filter((row) => plan.steps[row.step].part !== "practice").length;
  let isRefused = false;

  // Nothing is preloaded, of which jsPsych warns where a page is a file.
  const jsPsych = initJsPsych({show_progress_bar: true, message_progress_bar: "", override_safe_mode: true, on_finish: end});
  window.jsPsych = jsPsych; // for a server that keeps what it holds

  // ---- texts as HTML, of which jsPsych's questions and buttons are made
  const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const word = (name, facts) => escaped(said(name, facts));
  const paragraphs = (texts) => texts.map((text) => `<p dir="auto">${escaped(text)}</p>`).join("");

  const option = (label) => `<span dir="auto">${escaped(label)}</span>`;

  const product = (cells) =>
    `<table>${study.attributes.map((name, i) => `<tr><td dir="auto">${escaped(name)}</td><td dir="auto"><b>${escaped(cells[i])}</b></td></tr>`).join("")}</table>`;

  const shown = (step, place) => (kind === "choice" ? product(step.shown[place]) : option(study.options[step.shown[place]]));

  // ---- trials: each is a question or several, whose answers are [pick, HTML] given the picks before
  function questionsOf(step) {
    const options = (picks) => step.order.filter((place) => !picks.includes(place)).map((place) => [place, shown(step, place)]);
    const yesNo = () => [[1, word("yes")], [0, word("no")]];
    const others = {pairs: study.no_preference && "no_preference", choice: step.none && "none"}[kind];
    const firstOf = (picks) => [...options(picks), ...(others ? [[-1, word(others)]] : [])];
    switch (kind) {
      case "best-worst": return [options, options];
      case "ranking": return step.order.slice(1).map(() => options);
      case "ratings": return [() => Array.from({length: study.scale.steps}, (_, k) => [k + 1, String(k + 1)])];
      default: return study.dual ? [firstOf, yesNo] : [firstOf];
    }
  }

  function heading(step, k) {
    const part = step.part === "practice" ? `<p>${word("practice")}</p>` : "";
    const title = k && kind === "best-worst" ? "question_worst" : k && study.dual ? "question_buy" : "question";
    const rated = kind !== "ratings" ? "" : `<div class="two">${step.order.map((place) => `<div>${shown(step, place)}</div>`).join("")}</div>`;
    return `${part}<h1 dir="auto">${word(title)}</h1>${rated}`;
  }

  const ends = () => `<p dir="auto">1: ${escaped(study.scale.low)}<br>${study.scale.steps}: ${escaped(study.scale.high)}</p>`;

  function trial(step, number) {
    const questions = questionsOf(step), picks = [];
    let rt = 0;
    const isOver = () => picks.length === questions.length || (study.dual && picks[0] < 0);
    return questions.map((answers, k) => ({
      conditional_function: () => !isOver(),
      timeline: [{
        type: jsPsychHtmlButtonResponse, css_classes: ["thali"], button_layout: "flex", enable_button_after: LOCK,
        stimulus: heading(step, k), choices: () => answers(picks).map(([, html]) => html),
        prompt: kind === "ratings" ? ends() : null,
        on_finish(data) {
          picks.push(answers(picks)[data.response][0]);
          rt += data.rt;
          delete data.response; // the number of the button, which is no answer of the study
          if (!isOver()) return;
          if (kind === "ranking") picks.push(...step.order.filter((place) => !picks.includes(place)));
          state.rows.push({step: number, picks, rt});
          const cells = cellsOf(state, plan, state.rows.at(-1));
          study.columns.forEach((name, i) => (data[name] = cells[i]));
        },
      }],
    }));
  }

  // ---- pages of text
  const text = (html, choices, act = () => {}) => ({
    type: jsPsychHtmlButtonResponse, css_classes: ["thali"], stimulus: html, choices, enable_button_after: LOCK,
    on_finish(data) {
      const {response} = data;
      delete data.response;
      act(response);
    },
  });

  function field({name, ask, kind: what, choices, least, most, required}, k) {
    const id = `question-${k}`, must = required ? " required" : "";
    const label = escaped(ask) + (required ? "" : ` (${word("optional")})`);
    if (what === "choice") {
      const radios = choices.map((choice) =>
        `<label dir="auto"><input type="radio" name="${id}" value="${escaped(choice)}"${must}> ${escaped(choice)}</label><br>`);
      return `<fieldset><legend dir="auto">${label}</legend>${radios.join("")}</fieldset>`;
    }
    const limits = [["min", least], ["max", most]].filter(([, limit]) => limit !== null);
    const number = what === "number" ? ` step="any"${limits.map(([name, limit]) => ` ${name}="${limit}"`).join("")}` : "";
    const input = `<input id="${id}" name="${id}" type="${what === "number" ? "number" : "text"}" maxlength="500"${number}${must}>`;
    return `<p><label for="${id}" dir="auto">${label}</label><br>${input}</p>`;
  }

  function questionsPage() {
    const asks = study.asks_person && !given ? [{name: "", ask: said("person"), kind: "text", required: true}] : [];
    const asked = [...asks, ...study.questions];
    return {
      type: jsPsychSurveyHtmlForm, preamble: `<h1>${word("about_you")}</h1>`, html: asked.map(field).join(""),
      button_label: word("next"),
      on_finish(data) {
        const {response} = data;
        delete data.response;
        asked.forEach(({name}, k) => {
          const value = (response[`question-${k}`] ?? "").trim().slice(0, name ? 500 : 64);
          if (name) state.facts[name] = value;
          else state.person = value;
        });
      },
    };
  }

  const pages = {
    consent: () => text(`<h1>${word("consent_title")}</h1>${paragraphs(study.consent)}`, [word("agree"), word("disagree")], (response) => {
      if (response === 0) return;
      isRefused = true;
      jsPsych.abortExperiment(`<p>${word("not_taking_part")}</p>`);
    }),
    start: () => text(
      `<h1 dir="auto">${escaped(study.title)}</h1>${paragraphs(study.instructions.length ? study.instructions : [said("welcome")])}` +
      `<p>${word("how_many", {all})}</p>`, [word("start")]),
    questions: questionsPage,
    practice_over: () => text(`<p>${word("practice_over")}</p>`, [word("next")]),
    pause: () => text(() => `<p>${word("pause", {done: done(), all})}</p>`, [word("next")]),
  };

  // ---- the end: the answers go to the address of the study, or are saved
  async function end() {
    if (isRefused) return;
    const place = jsPsych.getDisplayElement();
    const thanks = `<h1>${word("end_title")}</h1>${paragraphs(study.thanks.length ? study.thanks : [said("end")])}`;
    place.innerHTML = thanks + (study.post ? `<p>${word("sending")}</p>` : "");
    if (study.post && await sent(state, plan)) {
      place.innerHTML = `${thanks}<p>${word("sent")}</p>`;
      return;
    }
    const link = `<p><a id="save" class="jspsych-btn" download="${escaped(fileName(state))}" href="${URL.createObjectURL(fileOf(state, plan))}">${word("save")}</a></p>`;
    place.innerHTML = `${thanks}<p>${word(study.post ? "not_sent" : "hand_in")}</p>${link}`;
  }

  jsPsych.run(plan.steps.flatMap((step, number) =>
    step.part ? trial(step, number) : step.page === "end" ? [] : [pages[step.page]()]));
})();
