"use strict";
// Shares of products in markets, draw by draw; thali._choice.reports.market_simulator computes the same in Python.

function decoded(part) {
  const text = atob(part.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const types = {u1: Uint8Array, u2: Uint16Array, i2: Int16Array, f4: Float32Array};
  return new types[part.type](bytes.buffer);
}

function ends(counts) {
  const found = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) found[i + 1] = found[i] + counts[i];
  return found;
}

// The finaliser of MurmurHash3.
function spread(number) {
  number = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  number = Math.imul(number ^ (number >>> 13), 0xc2b2ae35);
  return (number ^ (number >>> 16)) >>> 0;
}

// A standard exponential number: how much a respondent counts in a draw of the market that the respondents represent.
function exponential(d, n, respondents) {
  return -Math.log((spread(0x9e3779b9 + d * respondents + n) + 0.5) / 4294967296);
}

// Of each draw whom it holds: people at even steps, further on in each draw.
function holding(draws, people, respondents) {
  return (d, k) => Math.floor(((k * draws + d) * respondents) / (people * draws));
}

// Whether any draw holds each respondent.
function heldBy(rule) {
  const found = new Uint8Array(rule.respondents);
  if (rule.membership) return found.fill(1); // all are, of one kind or another
  const draws = drawsOf(rule), holds = holding(draws, rule.people, rule.respondents);
  for (let d = 0; d < draws; d++) for (let k = 0; k < rule.people; k++) found[holds(d, k)] = 1;
  return found;
}

function drawsOf(rule) {
  return rule.name === "best" ? decoded(rule.classes).length : decoded(rule.codes).length / rule.steps.length / rule.people;
}

// Product classes: everybody takes the product whose classes have the greatest sum of values.
function bestOfClasses(rule) {
  const classes = ends(decoded(rule.classes)), member = decoded(rule.member), owned = decoded(rule.owned);
  const counts = decoded(rule.counts), lasting = decoded(rule.lasting), passing = decoded(rule.passing);
  const values = decoded(rule.values), owners = ends(counts), draws = classes.length - 1;
  const cells = ends(rule.sizes.map((size) => size + 1)), bytes = Math.ceil(cells[rule.sizes.length] / 8);
  const fresh = passing.length / draws, shift = 32 - Math.log2(fresh);
  const who = holding(draws, rule.people, rule.respondents);

  function holds(c, product) {
    return product.every((level, i) => {
      const cell = cells[i] + (level === null ? rule.sizes[i] : level);
      return (member[c * bytes + (cell >> 3)] >> (cell & 7)) & 1;
    });
  }

  return function (markets, weights) {
    const first = ends(markets.map((market) => market.length)), products = markets.flat(), rows = products.length;
    const total = new Float64Array(draws * rows), utility = new Float64Array(rows);
    for (let d = 0; d < draws; d++) {
      const inside = [], differs = [];
      for (let c = classes[d]; c < classes[d + 1]; c++) {
        const held = products.map((product) => holds(c, product));
        inside.push(held);
        const apart = markets.map((_, m) => held.slice(first[m], first[m + 1]).some((one) => one != held[first[m]]));
        differs.push(apart.some(Boolean) ? apart : null);
      }
      let sum = 0;
      for (let person = d * rule.people; person < (d + 1) * rule.people; person++) {
        const n = who(d, person - d * rule.people);
        const weight = exponential(d, n, rule.respondents) * (weights === null ? 1 : weights[n]);
        if (weight === 0) continue;
        sum += weight;
        for (let occasion = 0; occasion < rule.occasions; occasion++) {
          utility.fill(0);
          for (let o = owners[person]; o < owners[person + 1]; o++) {
            const apart = differs[owned[o] >> 1];
            if (apart === null) continue;
            const place = spread(o * rule.occasions + occasion) >>> shift;
            const value = values[lasting[o]] + values[passing[d * fresh + place]], held = inside[owned[o] >> 1];
            for (let m = 0; m < markets.length; m++) {
              if (!apart[m]) continue;
              for (let row = first[m]; row < first[m + 1]; row++) {
                if (held[row]) utility[row] += owned[o] & 1 ? -value : value;
              }
            }
          }
          for (let m = 0; m < markets.length; m++) addBest(utility, first[m], first[m + 1], weight, total, d * rows);
        }
      }
      for (let row = d * rows; row < (d + 1) * rows; row++) total[row] /= sum * rule.occasions; // NaN: holds nobody
    }
    return split(total, draws, first);
  };
}

function addBest(utility, begin, end, weight, total, at) {
  let best = -Infinity, ties = 0;
  for (let row = begin; row < end; row++) {
    if (utility[row] > best) [best, ties] = [utility[row], 1];
    else if (utility[row] === best) ties++;
  }
  for (let row = begin; row < end; row++) if (utility[row] === best) total[at + row] += weight / ties;
}

// Logits: a product is chosen with probability proportional to exp(utility).
function logitTastes(rule) {
  const codes = decoded(rule.codes), p = rule.steps.length, draws = codes.length / p / rule.people;
  const who = holding(draws, rule.people, rule.respondents);
  const membership = rule.membership && decoded(rule.membership), kinds = rule.kinds && decoded(rule.kinds);
  const constants = rule.constants && decoded(rule.constants), known = constants && constants.length / draws;

  function pieces(value, knots) {
    const inner = knots.map((low, k) => Math.min(Math.max(value, low), knots[k + 1] ?? Infinity) - low);
    return [Math.min(value, knots[0] ?? Infinity), ...inner];
  }

  function columns(product) {
    const single = product.flatMap((level, i) => {
      const {table, is_number, knots} = rule.columns[i];
      if (level === null) return table[table.length - 1];
      if (!is_number) return table[level];
      const own = pieces(level, knots);
      return [...own, ...table[0].slice(own.length).fill(0)];
    });
    const crossed = rule.crossed.map(([a, b]) => single[a] * single[b]);
    return [...single, ...crossed].map((value, k) => value * rule.steps[k]);
  }

  // The parts of those of a draw, or of only one kind; NaN where the draw holds nobody with a weight.
  function parts(d, weights, kind) {
    const found = new Float64Array(rule.people), all = rule.respondents, isEstimate = membership !== null && d === 0;
    const weight = (n) => (weights === null ? 1 : weights[n]) * (isEstimate ? 1 : exponential(d, n, all));
    if (kind >= 0) found[kind] = 1;
    else if (membership === null) found.forEach((_, k) => (found[k] = weight(who(d, k))));
    else {
      for (let n = 0; n < all; n++) {
        if (d > 0) found[kinds[(d - 1) * all + n]] += weight(n);
        else for (let k = 0; k < rule.people; k++) found[k] += weight(n) * membership[n * rule.people + k];
      }
    }
    const sum = found.reduce((a, b) => a + b);
    return found.map((value) => value / sum);
  }

  return function (markets, weights, kind) {
    const first = ends(markets.map((market) => market.length)), matrix = markets.flat().map(columns);
    const numbers = markets.flat().map((product) => product[product.length - 1]); // where there are constants
    const rows = matrix.length, total = new Float64Array(draws * rows), utility = new Float64Array(rows);
    for (let d = 0; d < draws; d++) {
      const own = parts(d, weights, kind);
      for (let person = d * rule.people; person < (d + 1) * rule.people; person++) {
        const weight = own[person - d * rule.people];
        if (weight === 0) continue;
        for (let row = 0; row < rows; row++) {
          utility[row] = constants && numbers[row] !== null ? constants[d * known + numbers[row]] : 0;
          for (let k = 0; k < p; k++) utility[row] += codes[person * p + k] * matrix[row][k];
        }
        for (let m = 0; m < markets.length; m++) {
          if (rule.takes_first) {
            addBest(utility, first[m], first[m + 1], weight, total, d * rows);
            continue;
          }
          const each = utility.subarray(first[m], first[m + 1]), top = Math.max(...each);
          const odds = each.map((value) => Math.exp(value - top)), sum = odds.reduce((a, b) => a + b);
          odds.forEach((value, k) => (total[d * rows + first[m] + k] += value / sum * weight));
        }
      }
    }
    return split(total, draws, first);
  };
}

// Of each market the draws of each product's share.
function split(total, draws, first) {
  const rows = total.length / draws;
  return Array.from({length: first.length - 1}, (_, m) =>
    Array.from({length: first[m + 1] - first[m]}, (_, k) =>
      Float64Array.from({length: draws}, (_, d) => total[d * rows + first[m] + k])));
}

// Which products are found together on which part of the occasions, of products found on these parts of them.
function occasions(values) {
  let found = [{there: [], part: 1}];
  values.forEach((value, k) => {
    found = found.flatMap(({there, part}) => [
      {there: [...there, k], part: part * value},
      ...(value < 1 ? [{there, part: part * (1 - value)}] : []),
    ]);
  });
  return found.filter(({there}) => there.length);
}

// The shares of each market among respondents with these weights (null: all alike), or of one kind of people.
function sharesOf(data) {
  const chosen = {best: bestOfClasses, logit: logitTastes}[data.rule.name](data.rule);
  const available = (product) => data.available?.[product[product.length - 1]] ?? 1;
  return (markets, weights = null, kind = -1) => {
    const sets = markets.map((market) => occasions(market.map(available)));
    const asked = markets.flatMap((market, m) => sets[m].map(({there}) => there.map((k) => market[k])));
    const parts = chosen(asked, weights, kind).values();
    return markets.map((market, m) => {
      const total = market.map(() => new Float64Array(drawsOf(data.rule)));
      for (const {there, part} of sets[m]) {
        parts.next().value.forEach((share, k) => share.forEach((value, d) => {
          total[there[k]][d] += part * ((1 - data.lapse) * value + data.lapse / there.length);
        }));
      }
      return total;
    });
  };
}

// Mean and interval of draws, or the estimate that is the first of them; quantiles between two draws are linear. A draw
// that holds nobody of those asked for is none.
function described(draws, tails, isEstimate) {
  const sorted = Float64Array.from(isEstimate ? draws.slice(1) : draws).filter((value) => !Number.isNaN(value)).sort();
  const mean = isEstimate ? draws[0] : sorted.reduce((a, b) => a + b, 0) / sorted.length;
  const [low, high] = tails.map((tail) => {
    const place = tail * (sorted.length - 1), below = Math.floor(place), next = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[next] - sorted[below]);
  });
  return {mean, low, high};
}
