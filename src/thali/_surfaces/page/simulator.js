// The simulator: products and levels and people to choose, shares before and after, a demand curve.

(function () {
  const at = (name) => document.getElementById(`market-${name}`);
  const data = JSON.parse(at("data").textContent), shares = sharesOf(data), MOST = 8, LONGEST = 80;
  const state = {products: [], none: data.offers_none, before: null, kept: [], next: 0};
  const {people} = data; // null: there are no respondents to choose
  const amount = (value) => String(Number(value.toPrecision(4)));
  const plain = (value) => String(Number(value.toPrecision(6))); // a number of an attribute
  const {price} = data; // the place of the attribute, -1 where there is none
  let later = 0, shown = [];

  function made(tag, properties = {}, children = []) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }
  const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}\u2026` : text);
  const dash = "\u2013", count = (number) => number.toLocaleString("en");
  const percent = (share) => (Number.isNaN(share) ? dash : (100 * share).toFixed(1));
  const points = (share) => {
    if (Number.isNaN(share)) return dash;
    const text = (100 * share).toFixed(1);
    return Number(text) === 0 ? "0.0" : share > 0 ? `+${text}` : text.replace("-", "\u2212");
  };
  const named = (name) => [...name].every((letter) => letter === " ") ? "unnamed" : name;

  function product(levels, name) {
    const number = state.next++;
    const letter = `${String.fromCharCode(65 + (number % 26))}${number < 26 ? "" : number}`;
    return {number, name: name ?? `Product ${letter}`, levels, cost: NaN};
  }

  const nothing = () => ({number: -1, name: data.none_name, levels: data.none, cost: NaN});

  function market() {
    const rows = state.products.map((one) => ({...one, name: named(one.name), levels: [...one.levels]}));
    return state.none ? [...rows, nothing()] : rows;
  }

  // ---- products
  function control(one, attribute, i, id) {
    if (attribute.takes_any) {
      const [least, most] = [Math.min(...attribute.numbers), Math.max(...attribute.numbers)];
      const input = made("input", {type: "number", id, step: "any", value: one.levels[i]});
      const word = made("span", {className: "word", id: `${id}-word`});
      input.setAttribute("aria-describedby", word.id);
      const judge = () => {
        const value = input.valueAsNumber, isNumber = !Number.isNaN(value);
        input.setAttribute("aria-invalid", String(!isNumber));
        word.textContent = !isNumber ? `Not a number; shares are computed at ${one.levels[i]}.`
          : value < 0 && least >= 0 ? `Negative, but only ${least} to ${most} were tested: check the sign. This is a far extrapolation.`
          : value < least || value > most ? `Outside the tested range (${least} to ${most}): an extrapolation.` : "";
        return isNumber;
      };
      input.addEventListener("input", () => {
        if (!judge()) return;
        one.levels[i] = input.valueAsNumber;
        update();
      });
      judge();
      return [input, word];
    }
    const select = made("select", {id});
    attribute.levels.forEach((level, k) => select.add(new Option(shortened(level), String(k))));
    if (attribute.may_lack) select.add(new Option("(none)", ""));
    select.value = one.levels[i] === null ? "" : String(one.levels[i]);
    select.addEventListener("change", () => {
      one.levels[i] = select.value === "" ? null : Number(select.value);
      update();
    });
    return [select];
  }

  function card(one) {
    const legend = made("legend", {textContent: shortened(named(one.name))});
    const name = made("input", {type: "text", id: `market-name-${one.number}`, value: one.name, maxLength: 60});
    name.addEventListener("input", () => {
      one.name = name.value;
      legend.textContent = shortened(named(one.name));
    });
    name.addEventListener("change", update);
    const fields = [made("label", {htmlFor: name.id, textContent: "name"}), name];
    data.attributes.forEach((attribute, i) => {
      if (attribute.fixed !== null) return;
      const id = `market-level-${one.number}-${i}`;
      fields.push(made("label", {htmlFor: id, textContent: shortened(attribute.name)}), ...control(one, attribute, i, id));
    });
    if (price >= 0) {
      const cost = made("input", {type: "number", id: `market-cost-${one.number}`, step: "any", placeholder: "not set"});
      if (!Number.isNaN(one.cost)) cost.value = one.cost;
      cost.addEventListener("input", () => {
        one.cost = cost.valueAsNumber;
        update();
      });
      fields.push(made("label", {htmlFor: cost.id, textContent: "unit cost"}), cost);
    }
    const remove = made("button", {type: "button", textContent: "Remove", disabled: state.products.length <= 2});
    remove.setAttribute("aria-label", `Remove ${named(one.name)}`);
    remove.addEventListener("click", () => {
      state.products.splice(state.products.indexOf(one), 1);
      cards();
      at("add").focus();
    });
    return made("fieldset", {className: "product"}, [legend, ...fields, remove]);
  }

  function cards() {
    at("products").replaceChildren(...state.products.map(card));
    at("add").disabled = state.products.length >= MOST;
    update();
  }

  // ---- people
  // All respondents, those who have a value in a column, and latent classes; only whom the draws hold can be chosen.
  function groupsOf() {
    const all = people.number, everyone = new Uint8Array(all).fill(1);
    const sum = (has) => has.reduce((a, b) => a + b, 0);
    const group = (title, value, name, has) => {
      const here = sum(has.map((one, n) => one * held[n])), number = sum(has);
      const some = here < number ? `, ${count(here)} of them on this page` : "";
      const of = title === null ? `all ${count(all)} respondents` : `${value}, ${count(number)} of ${count(all)} respondents`;
      return {title, has, number, here, kind: -1, label: `${of}${some}`, short: name};
    };
    const chosen = people.columns.flatMap(({name, values, codes}) => {
      const own = decoded(codes);
      return values.map((value, code) =>
        group(shortened(name), `${shortened(named(value))} (${shortened(name)})`, shortened(named(value)),
          Uint8Array.from(own, (one) => Number(one === code))));
    });
    const membership = people.kinds.length ? decoded(data.rule.membership) : [];
    const kinds = people.kinds.map((name, kind) => {
      const part = membership.filter((_, place) => place % people.kinds.length === kind).reduce((a, b) => a + b, 0) / all;
      const label = `${name}, ${(100 * part).toFixed(0)} % of ${count(all)} respondents`;
      return {title: "latent class", has: everyone, number: all, here: all, kind, label, short: name};
    });
    const first = group(null, "", "all respondents", everyone);
    return [{...first, has: null}, ...[...chosen, ...kinds].filter((one) => one.here > 0)];
  }

  const held = people === null ? [] : heldBy(data.rule), groups = people === null ? [] : groupsOf();

  // Those whose shares are asked for: weights of the respondents or a kind, and who they are.
  function whom() {
    if (people === null) return {weights: null, kind: -1, words: "", short: "", key: ""};
    const {has, kind, label, short} = groups[Number(at("people").value)], place = at("weights").value;
    const key = `${at("people").value}/${kind < 0 ? place : ""}`;
    if (kind >= 0 || place === "") return {weights: kind < 0 ? has : null, kind, words: label, short, key};
    const {name, values} = people.weights[Number(place)], own = decoded(values);
    const weights = has === null ? own : own.map((value, n) => value * has[n]);
    return {weights, kind, words: `${label}, weighted by ${shortened(name)}`, short: `${short}, weighted`, key};
  }

  function offerPeople() {
    let title = null, place = at("people");
    groups.forEach((one, k) => {
      if (one.title !== title) {
        title = one.title;
        place = made("optgroup", {label: title});
        at("people").append(place);
      }
      const text = one.title === null || one.kind >= 0 ? one.label : `${one.short} (${one.title}), ${count(one.number)}`;
      place.append(new Option(text, String(k)));
    });
    at("weights").add(new Option("equal weights", ""));
    people.weights.forEach(({name}, k) => at("weights").add(new Option(shortened(name), String(k))));
    at("whom").hidden = false;
    at("people-label").hidden = groups.length < 2;
    at("weights-label").hidden = !people.weights.length;
    for (const name of ["people", "weights"]) at(name).addEventListener("change", choosePeople);
  }

  function choosePeople() {
    const {kind} = groups[Number(at("people").value)], {weights} = whom();
    const has = weights === null || weights.some((value, n) => value * held[n] > 0);
    at("whom-word").textContent = has ? "" : "None of these respondents has a weight above 0, so equal weights are used.";
    if (!has) at("weights").value = "";
    at("weights").disabled = kind >= 0; // all respondents of a class have the same tastes
    update();
  }

  // What is added to a title: whose shares these are.
  function ofWhom(now) {
    if (now.words === "") return "";
    const others = state.before !== null && state.before.who.key !== now.key;
    return `: ${now.words}${others ? `; before: ${state.before.who.words}` : ""}`;
  }

  // ---- shares
  function row(cells) {
    return made("tr", {}, cells.map((text, k) =>
      k ? made("td", {textContent: text}) : Object.assign(made("th", {className: "text", textContent: text}), {scope: "row"})));
  }

  function head(names) {
    return made("thead", {}, [made("tr", {}, names.map((name, k) =>
      Object.assign(made("th", {textContent: name, className: k ? "" : "text"}), {scope: "col"})))]);
  }

  function table(node, title, names, rows) {
    node.replaceChildren(made("caption", {textContent: title}), head(names), made("tbody", {}, rows.map(row)));
  }

  function track(found, kind) {
    const bar = made("span", {className: `bar ${kind}`}), range = made("span", {className: "range"});
    bar.style.width = `${100 * found.mean}%`;
    range.style.left = `${100 * found.low}%`;
    range.style.width = `${100 * (found.high - found.low)}%`;
    return made("span", {className: "track"}, [bar, range]);
  }

  // The number at a level of the price.
  function priceOf(one) {
    const level = one.levels[price], {numbers, takes_any} = data.attributes[price];
    return level === null ? NaN : takes_any ? level : numbers[level];
  }

  // One line for each product of either market: its share now and before, and the change; null where it is not there.
  function lines(now, found, old = state.before) {
    const before = old === null ? [] : old.market;
    const all = [...now, ...before.filter((old) => !now.some((one) => one.number === old.number))];
    return all.map((one) => {
      const k = now.findIndex((other) => other.number === one.number);
      const j = before.findIndex((other) => other.number === one.number);
      const draws = k < 0 ? null : found[k], then = j < 0 ? null : old.found[j];
      const none = new Float64Array((draws ?? then).length);
      const change = (draws ?? none).map((value, d) => value - (then ?? none)[d]);
      const described_ = (values) => (values === null ? null : described(values, data.tails, data.is_estimate));
      const each = one.cost === undefined || price < 0 ? NaN : 100 * (priceOf(one) - one.cost);
      const profit = draws === null || Number.isNaN(each) ? null : described_(draws.map((value) => value * each));
      return {...one, now: described_(draws), before: described_(then), change: described_(change), profit};
    });
  }

  const interval = (found, shown) => (found === null ? dash : `${shown(found.low)} to ${shown(found.high)}`);
  const middle = (found, shown) => (found === null ? dash : shown(found.mean));

  function update() {
    const now = market(), who = whom(), [found] = shares([now.map((one) => one.levels)], who.weights, who.kind);
    const all = lines(now, found), of = ofWhom(who);
    const compares = state.before !== null, earns = all.some((one) => one.profit !== null);
    const others = compares && state.before.who.key !== who.key;
    at("bars").replaceChildren(...all.map((one) => made("li", {}, [
      made("span", {className: "name", textContent: one.name}),
      ...(compares && one.before ? [track(one.before, "before")] : []),
      ...(one.now ? [track(one.now, "now")] : []),
      made("span", {
        className: "value",
        textContent: `${one.now ? `${percent(one.now.mean)} %` : "not offered"}${
          compares ? `, ${points(one.change.mean)} points` : ""}`,
      }),
    ])));
    const names = ["product", "share", data.interval];
    if (compares) names.push("before", data.interval, others ? "difference, points" : "change, points", data.interval);
    if (earns) names.push("profit per 100 choices", data.interval);
    table(at("table"), `Predicted shares in %${of}`, names, all.map((one) => [
      one.name, middle(one.now, percent), interval(one.now, percent),
      ...(compares ? [middle(one.before, percent), interval(one.before, percent),
        middle(one.change, points), interval(one.change, points)] : []),
      ...(earns ? [middle(one.profit, amount), interval(one.profit, amount)] : []),
    ]));
    shown = rowsOf(all, compares, earns, who);
    at("csv").value = asText(shown, ",");
    at("volume").textContent = compares ? volume(all, others) : "";
    at("forget").hidden = at("key").hidden = !compares;
    at("same").hidden = !others;
    at("key-before").textContent = others ? `before: ${shortened(state.before.who.short)}` : "before";
    at("key-now").textContent = others ? `now: ${shortened(who.short)}` : "now";
    at("status").textContent = `Shares${who.words && ` of ${who.words}`}: ${all.filter((one) => one.now).map((one) =>
      `${shortened(one.name)} ${percent(one.now.mean)} %`).join(", ")}.`;
    at("demand").ariaBusy = "true";
    clearTimeout(later);
    later = setTimeout(demand); // several markets: the shares are shown first
  }

  // From whom a share comes: who gained, and who lost, against the market before; or how other people differ.
  function volume(all, others) {
    const moved = all.filter((one) => points(one.change.mean) !== "0.0").sort((a, b) => b.change.mean - a.change.mean);
    const told = (ones) => ones.map((one) => `${shortened(one.name)} ${points(one.change.mean)}`).join(", ");
    const gained = moved.filter((one) => one.change.mean > 0), lost = moved.filter((one) => one.change.mean < 0).reverse();
    if (!moved.length) return others ? "No share differs." : "No share changed.";
    if (others) return `Compared with before (${state.before.who.words}), in points: ${told(moved)}.`;
    return `Gained, in points: ${told(gained)}. Lost: ${told(lost)}.`;
  }

  // ---- the table as text, and the bars as a picture
  function rowsOf(all, compares, earns, who) {
    const asked = data.attributes.map((_, i) => i).filter((i) => data.attributes[i].fixed === null);
    const parts = ["now", ...(compares ? ["before", "change"] : []), ...(earns ? ["profit"] : [])];
    const titles = {now: "share", before: "before", change: "change", profit: "profit"};
    const head = ["product", ...asked.map((i) => data.attributes[i].name),
      ...parts.flatMap((part) => [titles[part], `${titles[part]}_low`, `${titles[part]}_high`]),
      ...(people === null ? [] : ["respondents", ...(compares ? ["respondents_before"] : [])])];
    const rows = all.map((one) => [
      one.name,
      ...asked.map((i) => levelName(i, one.levels[i])),
      ...parts.flatMap((part) => ["mean", "low", "high"].map((end) =>
        Number.isFinite(one[part]?.[end]) ? one[part][end].toFixed(6) : "")),
      ...(people === null ? [] : [who.words, ...(compares ? [state.before.who.words] : [])]),
    ]);
    return [head, ...rows];
  }

  // Every market that was kept as "before", from the first on, and the one that stands, as `thali fit --market` reads them.
  function everyMarket() {
    const all = [...state.kept, {market: market(), who: whom()}];
    const key = ({market: own, who}) => JSON.stringify([own, who.key]);
    const each = all.filter((one, k) => !all.slice(0, k).some((other) => key(other) === key(one)));
    return each.flatMap(({market: own, who}, k) => {
      const [found] = shares([own.map((one) => one.levels)], who.weights, who.kind);
      const [head, ...rows] = rowsOf(lines(own, found, null), false, price >= 0, who);
      return [...(k ? [] : [["scenario", ...head]]), ...rows.map((cells) => [String(k + 1), ...cells])];
    });
  }

  const asText = (rows, between) => rows.map((cells) => cells.map((text) => cell(text, between)).join(between)).join("\n");

  function levelName(i, level) {
    const attribute = data.attributes[i];
    return level === null ? "" : attribute.takes_any ? String(level) : attribute.levels[level];
  }

  // A spreadsheet must not take a label for a formula.
  function cell(text, between) {
    const safe = /^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /["\n\r]/.test(safe) || safe.includes(between) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function picture() {
    const lines = [...at("bars").children].map((line) => ({
      name: line.querySelector(".name").textContent,
      said: line.querySelector(".value").textContent,
      bars: [...line.querySelectorAll(".track")].map((one) => [...one.children].map((part) => part.style)),
    }));
    const row = 40, xmlns = "http://www.w3.org/2000/svg", titles = titlesOf(whom()), top = 20 * titles.length;
    const node = svg("svg", {xmlns, width: 760, height: row * lines.length + 10 + top});
    const font = {"font-family": "sans-serif", "font-size": 14, "dominant-baseline": "middle"};
    node.append(svg("rect", {width: "100%", height: "100%", fill: "#ffffff"}));
    titles.forEach((title, k) => node.append(svg("text", {...font, x: 10, y: 20 * k + 18}, title)));
    lines.forEach(({name, said, bars}, k) => {
      const text = {...font, y: row * k + 25 + top};
      node.append(svg("text", {...text, x: 10}, name.length > 24 ? `${name.slice(0, 23)}\u2026` : name));
      node.append(svg("text", {...text, x: 580}, said));
      bars.forEach(([bar, range], n) => {
        const high = 24 / bars.length, y = row * k + 13 + top + n * high, old = n < bars.length - 1;
        const place = ({left, width}) => ({x: 200 + 3.6 * (parseFloat(left) || 0), width: Math.max(1, 3.6 * parseFloat(width))});
        node.append(svg("rect", {...place(bar), x: 200, y, height: high - 2, fill: old ? "#b9c0c9" : "#4a7fb5"}));
        node.append(svg("rect", {...place(range), y: y + high / 2 - 2, height: 2, fill: "#1d2126"}));
      });
    });
    save(node.outerHTML, "image/svg+xml", "market.svg");
    at("status").textContent = "The chart was saved as market.svg.";
  }

  function save(text, type, download) {
    const link = made("a", {download, href: URL.createObjectURL(new Blob([text], {type}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function saveMarkets() {
    const rows = everyMarket(), number = rows[rows.length - 1][0];
    save(`${asText(rows, ",")}\n`, "text/csv", "markets.csv");
    at("status").textContent = `Saved as markets.csv: ${number === "1" ? "this market" : `${number} markets (the first, the saved ones and this one)`}.`;
  }

  // Whose shares a picture shows, a line each.
  function titlesOf(now) {
    if (now.words === "") return [];
    if (state.before === null || state.before.who.key === now.key) return [shortened(now.words)];
    return [shortened(`Before: ${state.before.who.words}`), shortened(`Now: ${now.words}`)];
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(asText(shown, "\t"));
      at("status").textContent = "The table was copied; paste it into a spreadsheet.";
    } catch {
      at("copy").querySelector("details").open = true;
      at("csv").select();
      at("status").textContent = "The table is selected: press Ctrl+C to copy it.";
    }
  }

  // ---- demand
  const numeric = data.attributes.map((_, i) => i).filter((i) => {
    const {numbers, fixed} = data.attributes[i];
    return numbers !== null && fixed === null && numbers.length > 1;
  });

  // Numbers to ask about, and what stands for them in a product.
  function asked(i) {
    const {numbers, takes_any} = data.attributes[i];
    if (!takes_any) return numbers.map((number, level) => [number, level]).sort((a, b) => a[0] - b[0]);
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)], step = (most - least) / 8;
    // As many decimals as those that were shown have, or as tell them apart: between 9.99 and 14.99 is 10.62, not 10.615.
    const own = numbers.map((number) => (plain(number).split(".")[1] ?? "").length);
    const decimals = Math.max(...own, Math.ceil(-Math.log10(step)), 0);
    const between = Array.from({length: 7}, (_, k) => Number((least + (k + 1) * step).toFixed(decimals)));
    return [...new Set([...numbers, ...between])].sort((a, b) => a - b).map((number) => [number, number]);
  }

  function demand() {
    at("demand").ariaBusy = "false";
    if (!numeric.length) return;
    const select = at("demand-product"), kept = select.value;
    select.replaceChildren(...state.products.map((one) => new Option(shortened(named(one.name)), String(one.number))));
    if (state.products.some((one) => String(one.number) === kept)) select.value = kept;
    const k = select.selectedIndex, i = Number(at("demand-attribute").value), places = asked(i), now = market();
    const who = whom(), of = who.words && `: ${who.words}`;
    const found = shares(places.map(([, level]) =>
      now.map((one, j) => (j === k ? one.levels.map((own, n) => (n === i ? level : own)) : one.levels))), who.weights, who.kind);
    const curve = found.map((each, n) => ({x: places[n][0], ...described(each[k], data.tails, data.is_estimate)}));
    const attribute = shortened(data.attributes[i].name), name = shortened(now[k].name), last = curve[curve.length - 1];
    const finding = `Share of ${name} by ${attribute}, all else as above: ${percent(curve[0].mean)} % at ${plain(curve[0].x)}, ` +
      `${percent(last.mean)} % at ${plain(last.x)}.`;
    at("demand-picture").replaceChildren(drawn(curve, data.attributes[i].numbers, attribute, finding));
    at("demand-finding").textContent = `${finding} ${who.words && `Respondents: ${who.words}. `}The band covers ${data.interval_words}.`;
    table(at("demand-table"), `Share of ${name}, %${of}`, [attribute, "share", data.interval],
      curve.map((point) => [plain(point.x), percent(point.mean), interval(point, percent)]));
  }

  function svg(tag, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  }

  function drawn(curve, shown, attribute, finding) {
    const wide = Math.min(720, Math.max(300, at("demand-picture").clientWidth)), high = 280;
    const [left, right, top, bottom] = [48, 16, 12, 46], xs = curve.map((point) => point.x);
    const [least, most] = [xs[0], xs[xs.length - 1]];
    const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((one) => 5 * one >= Math.max(...curve.map((point) => point.high))) ?? 0.2;
    const ceiling = step * Math.max(1, Math.ceil(Math.max(...curve.map((point) => point.high)) / step - 1e-9));
    const x = (value) => (left + ((value - least) / (most - least)) * (wide - left - right)).toFixed(1);
    const y = (share) => (top + (1 - share / ceiling) * (high - top - bottom)).toFixed(1);
    const node = svg("svg", {viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", class: "demand"});
    node.append(svg("title", {}, finding));
    for (let share = 0; share <= ceiling + 1e-9; share += step) {
      node.append(svg("line", {class: "grid", x1: left, x2: wide - right, y1: y(share), y2: y(share)}));
      node.append(svg("text", {x: left - 6, y: y(share), "text-anchor": "end", "dominant-baseline": "middle"},
        `${Math.round(100 * share)} %`));
    }
    const up = curve.map((point) => `${x(point.x)},${y(point.high)}`);
    const down = curve.map((point) => `${x(point.x)},${y(point.low)}`).reverse();
    node.append(svg("polygon", {class: "band", points: [...up, ...down].join(" ")}));
    node.append(svg("polyline", {class: "curve", points: curve.map((point) => `${x(point.x)},${y(point.mean)}`).join(" ")}));
    let end = -Infinity;
    for (const point of curve) {
      node.append(svg("circle", {class: "point", cx: x(point.x), cy: y(point.mean), r: 4}));
      if (!shown.includes(point.x)) continue; // between those that people saw
      const label = plain(point.x), half = 4 * label.length;
      const at = Math.min(Number(x(point.x)), wide - half - 2);
      if (at - half < end + 6) continue;
      end = at + half;
      node.append(svg("text", {x: at, y: high - bottom + 18, "text-anchor": "middle"}, label));
    }
    node.append(svg("text", {x: (left + wide - right) / 2, y: high - 8, "text-anchor": "middle"}, attribute));
    return node;
  }

  // ---- start
  state.products = data.products.map(([name, levels]) => product([...levels], name));
  numeric.forEach((i) => at("demand-attribute").add(new Option(shortened(data.attributes[i].name), String(i))));
  if (numeric.includes(price)) at("demand-attribute").value = String(price);
  if (people !== null) offerPeople();
  at("none").checked = state.none;
  at("none-label").hidden = data.none === null;
  at("controls").hidden = at("copy").hidden = false;
  at("demand").hidden = !numeric.length;
  at("add").addEventListener("click", () => {
    const one = product([...state.products[state.products.length - 1].levels]);
    state.products.push(one);
    cards();
    at(`name-${one.number}`).focus();
  });
  at("none").addEventListener("change", () => {
    state.none = at("none").checked;
    if (state.before !== null) keepWith(state.before.market, state.before.who); // neither market may be without it alone
    update();
  });
  const keepWith = (before, who) => {
    const products = before.filter((one) => one.number !== -1), kept = state.none ? [...products, nothing()] : products;
    const [found] = shares([kept.map((one) => one.levels)], who.weights, who.kind);
    state.before = {market: kept, found, who};
  };
  const keep = (before) => {
    keepWith(before, whom());
    state.kept.push({market: state.before.market, who: whom()});
    update();
    at("pin").focus();
  };
  at("pin").addEventListener("click", () => keep(market()));
  at("same").addEventListener("click", () => keep(state.before.market));
  at("forget").addEventListener("click", () => {
    state.before = null;
    update();
    at("pin").focus();
  });
  at("copy-button").addEventListener("click", copy);
  at("picture-button").addEventListener("click", picture);
  at("every-button").addEventListener("click", saveMarkets);
  for (const name of ["demand-product", "demand-attribute"]) at(name).addEventListener("change", demand);
  cards();
  state.kept.push({market: market(), who: whom()});
})();
