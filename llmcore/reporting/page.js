"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const failures = JSON.parse(document.getElementById("failures").textContent);

// Texts of models enter the page as text nodes only, so that none of them is read as HTML.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Characters that nobody sees, or that turn the direction of text, are shown as escapes.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const shown = (text) => String(text).replace(HIDDEN, (sign) => "\\u" + sign.codePointAt(0).toString(16).padStart(4, "0"));
const percent = (share) => (share === null || share === undefined ? "-" : (Math.floor(share * 1000 + 1e-9) / 10).toFixed(1) + "%");
const share = (part, whole) => (whole ? part / whole : null);
const bar = (value, after) =>
  value === null ? null : element("span", { class: after ? "bar after" : "bar" }, element("i", { style: `width:${100 * value}%` }));

// A column: its title, the value by which it is sorted, what is shown of it, and whether it has words.
function column(title, value, options) {
  return { title, value, show: (row) => shown(value(row)), words: false, ...options };
}
const words = (title, value, options) => column(title, value, { words: true, ...options });
const rate = (title, value, options) =>
  column(title, value, { show: (row) => element("span", {}, percent(value(row)), bar(value(row))), ...options });

function table(columns, rows, options) {
  const body = element("tbody");
  const heads = columns.map((one) =>
    element("th", { class: className(one), scope: "col" }, element("button", { type: "button", onclick: () => sort(one) }, one.title)));
  let sorted = null, descending = false;
  let kept = rows;
  function className(one) {
    return [one.short ? "short" : one.words ? "words" : "", one.optional ? "optional" : ""].join(" ").trim() || null;
  }
  function sort(one) {
    descending = sorted === one ? !descending : !one.words;
    sorted = one;
    heads.forEach((head, index) =>
      columns[index] === one ? head.setAttribute("aria-sort", descending ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    fill();
  }
  function compare(one, other) {
    const [a, b] = [sorted.value(one), sorted.value(other)];
    const order = sorted.words ? String(a).localeCompare(String(b)) : (a ?? -1) - (b ?? -1);
    return descending ? -order : order;
  }
  function fill() {
    const ordered = sorted ? [...kept].sort(compare) : kept;
    body.replaceChildren(...ordered.flatMap((row) => {
      const cells = columns.map((one) => element("td", { class: className(one) }, one.show(row)));
      return options?.row ? options.row(row, cells) : [element("tr", {}, ...cells)];
    }));
  }
  fill();
  const made = element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  return { made, keep(test) { kept = rows.filter(test); fill(); return kept.length; } };
}

function section(title, note, content, kind) {
  return element("section", { class: kind || null }, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null, content);
}
const card = (title, value, kind) => element("div", { class: "card" }, element("b", { class: kind || null }, value), title);

// --- figures ---------------------------------------------------------------------------------------------------------

const ERRORS = { invalid_json: "invalid JSON", unknown_name: "unknown name", schema_mismatch: "schema mismatch" };

function errorCell(row, error) {
  const count = row.errors[error];
  return element("span", {}, `${percent(share(count.raw, row.calls))} → ${percent(share(count.repaired, row.calls))}`);
}
const errorColumns = Object.entries(ERRORS).map(([error, title]) =>
  column(title, (row) => share(row.errors[error].raw, row.calls), { show: (row) => errorCell(row, error) }));

function target(row) {
  if (!row.real_provider) return "local recording";
  const missed = row.targets.filter((verdict) => !verdict.met).map((verdict) => verdict.metric);
  if (!row.targets.length) return "-";
  return missed.length ? element("span", { class: "bad" }, "missed: " + missed.join(", ")) : element("span", { class: "good" }, "met");
}
const resultColumns = [
  column("runs", (row) => row.runs),
  column("units", (row) => row.units),
  rate("success", (row) => row.success_rate),
  column("re-ask", (row) => row.needs_reask),
  column("wrong", (row) => row.wrong),
];
const retryColumns = [
  column("retries/call", (row) => row.retries_per_call, { show: (row) => row.retries_per_call?.toFixed(2) ?? "-" }),
  column("fallback", (row) => row.fallback_share, { show: (row) => percent(row.fallback_share) }),
];

function errorRates() {
  const rows = Object.entries(ERRORS).map(([error, title]) => ({ title, ...figures.errors[error] }));
  const of = (title, count, after) => column(title, (row) => share(row[count], figures.calls), {
    show: (row) => element("span", {}, `${percent(share(row[count], figures.calls))} (${row[count]})`, bar(share(row[count], figures.calls), after)),
  });
  return table([words("error", (row) => row.title), of("as written", "raw"), of("after repairs", "repaired", true)], rows).made;
}

function counted(title, counts, total) {
  const rows = Object.entries(counts).map(([name, count]) => ({ name, count }));
  if (!rows.length) return element("p", { class: "empty" }, "none");
  return table([
    words(title, (row) => row.name, { show: (row) => shown(row.name) }),
    column("count", (row) => row.count),
    rate("share", (row) => share(row.count, total)),
  ], rows).made;
}

function orNone(rows, columns) {
  return rows.length ? table(columns, rows).made : element("p", { class: "empty" }, "none");
}

function overview() {
  const success = share(figures.succeeded, figures.units);
  return element("div", { class: "cards" },
    card("runs", figures.runs), card("units", figures.units), card("success", percent(success)),
    card("need a re-ask", figures.needs_reask, figures.needs_reask ? "bad" : ""), card("wrong", figures.wrong, figures.wrong ? "bad" : ""),
    card("expectations not met", figures.unmet_expectations, figures.unmet_expectations ? "bad" : ""),
    figures.skipped ? card("not read", figures.skipped, "bad") : null);
}

function tables() {
  const most = Math.max(1, ...figures.repairs.map((row) => row.count));
  const attempts = Object.fromEntries(Object.entries(figures.attempts).map(([count, units]) => [count === "10" ? "10 or more" : count, units]));
  return element("div", { class: "grid" },
    section("Model families", null, table([
      words("family", (row) => row.family, { short: true }), ...resultColumns, ...retryColumns, ...errorColumns,
      words("target", (row) => row.real_provider, { show: target }),
    ], figures.families).made, "wide"),
    section("Models", "Errors: the share of calls as written → after repairs.", table([
      words("model", (row) => row.model || "(no name)"),
      words("family", (row) => row.real_provider ? row.family : `${row.family} (local)`),
      ...resultColumns, ...errorColumns,
    ], figures.models).made, "wide"),
    section("Errors of calls", `${figures.calls} calls: as the model wrote them, and after the repairs of llmcore. A call may have several errors.`, errorRates()),
    section("Attempts per unit", "How many requests a call or value took.", counted("requests", attempts, figures.units)),
    section("Repairs by kind and dialect", null, orNone(figures.repairs, [
      words("kind", (row) => row.kind), words("safety", (row) => row.safety, { short: true }), words("dialect", (row) => row.dialect || "(whole reply)"),
      column("count", (row) => row.count, { show: (row) => element("span", {}, row.count, bar(row.count / most)) }),
    ])),
    section("Dialects", null, orNone(figures.dialects, [
      words("dialect", (row) => row.dialect), column("calls", (row) => row.calls), column("as written", (row) => row.as_written),
      column("repaired", (row) => row.lossless + row.coerced), column("guess", (row) => row.guess),
      column("cut", (row) => row.truncated), column("invalid", (row) => row.invalid),
      rate("success", (row) => share(row.succeeded, row.units)),
    ])),
    section("Near misses", "Text that looks like a call, and is kept as content.", counted("reason", figures.near_misses,
      Object.values(figures.near_misses).reduce((sum, count) => sum + count, 0))),
    section("Slowest", "The time to normalise and validate a transcript.", orNone(figures.slowest, [
      words("transcript", (row) => row.label), column("ms", (row) => row.seconds, { show: (row) => (1000 * row.seconds).toFixed(1) }),
    ])));
}

// --- failed transcripts ----------------------------------------------------------------------------------------------

const json = (value) => element("pre", {}, shown(JSON.stringify(value, null, 2)));

function exchangeDetail(exchange) {
  const text = exchange.pieces.length
    ? element("pre", {}, ...exchange.pieces.map(([kind, part]) => element("span", { class: kind, title: kind.replace("_", " ") }, shown(part))))
    : element("p", { class: "empty" }, exchange.envelope ? "The reply has no text: its calls are native." : "The request failed.");
  const reasons = element("div", {},
    exchange.problems.length ? element("ul", {}, ...exchange.problems.map((problem) => element("li", {}, shown(problem)))) : null,
    ...exchange.mismatches.flatMap(({ what, expected, got }) => [
      element("h3", {}, `${what}: expected`), json(expected), element("h3", {}, `${what}: got`), json(got)]),
    exchange.ok ? element("p", { class: "good" }, "This exchange succeeded.") : null);
  return element("div", { class: "exchange" },
    element("h3", {}, `exchange ${exchange.number}: ${exchange.attempt}`),
    element("div", { class: "side" },
      element("div", {}, element("h3", {}, "Text"), text),
      element("div", {}, element("h3", {}, exchange.envelope ? "Envelope, without defaults" : "Error"), json(exchange.envelope ?? exchange.error),
        ...(exchange.after_repairs.length ? [element("h3", {}, "Calls that the validator changed"), json(exchange.after_repairs)] : [])),
      element("div", {}, element("h3", {}, "Reason"), reasons)));
}

function detail(failure) {
  return element("tr", { class: "detail" }, element("td", { colspan: 5 },
    element("p", { class: "note" },
      [failure.place, failure.model || failure.family, failure.verdict, ...failure.dialects].map(shown).join(" · "), " · ", element("a", { href: "#" + encodeURIComponent(failure.key) }, "link to this transcript")),
    failure.left_out ? element("p", { class: "note" }, `${failure.left_out} more exchanges are not shown.`) : null,
    ...failure.exchanges.map(exchangeDetail)));
}

// Labels may repeat; the second one of a label is `label~2`.
const counts = new Map();
for (const failure of failures) {
  const count = (counts.get(failure.label) || 0) + 1;
  counts.set(failure.label, count);
  failure.key = count > 1 ? `${failure.label}~${count}` : failure.label;
}
const open = new Set();
const rows = new Map();

function failureRow(failure, cells) {
  const toggle = () => { open.has(failure) ? open.delete(failure) : open.add(failure); draw(); };
  const row = element("tr", { class: "row", tabindex: 0, onclick: toggle,
    onkeydown: (event) => { if (event.key === "Enter") toggle(); } }, ...cells);
  function draw() {
    const next = row.nextElementSibling;
    if (next?.className === "detail") next.remove();
    row.classList.toggle("open", open.has(failure));
    row.setAttribute("aria-expanded", open.has(failure));
    if (open.has(failure)) row.after(detail(failure));
  }
  rows.set(failure, { row, draw });
  if (!open.has(failure)) return [row];
  row.classList.add("open");
  return [row, detail(failure)];
}

function failedSection() {
  const note = figures.rest.count
    ? `The first ${failures.length} of ${failures.length + figures.rest.count}. The others are in ${shown(figures.rest.file)}, which llmcore replay reads.`
    : null;
  if (!failures.length) return section("Failed transcripts", null, element("p", { class: "good" }, "none"), "failed");
  const list = table([
    words("transcript", (failure) => failure.label), words("model", (failure) => failure.model || failure.family),
    words("verdict", (failure) => failure.verdict, { short: true, optional: true }),
    words("dialects", (failure) => failure.dialects.join(", "), { optional: true }),
    words("reason", (failure) => failure.reasons[0] ?? "", { show: (failure) => shown((failure.reasons[0] ?? "").slice(0, 200)) }),
  ], failures, { row: failureRow });
  const text = element("input", { type: "search", placeholder: "filter by any text", "aria-label": "filter by any text", oninput: filter });
  const choice = (title, values) => element("select", { "aria-label": title, onchange: filter }, element("option", { value: "" }, title),
    ...[...new Set(values)].sort().map((value) => element("option", {}, value)));
  const verdict = choice("any verdict", failures.map((failure) => failure.verdict));
  const family = choice("any family", failures.map((failure) => failure.family));
  const dialect = choice("any dialect", failures.flatMap((failure) => failure.dialects));
  const count = element("span", { class: "note" }, `${failures.length} shown`);
  function filter() {
    const sought = text.value.toLowerCase();
    const left = list.keep((failure) =>
      (!verdict.value || failure.verdict === verdict.value) && (!family.value || failure.family === family.value) &&
      (!dialect.value || failure.dialects.includes(dialect.value)) &&
      (!sought || (failure.text ??= JSON.stringify(failure).toLowerCase()).includes(sought)));
    count.textContent = `${left} shown`;
  }
  function follow() {
    const key = decodeURIComponent(location.hash.slice(1));
    const failure = failures.find((one) => one.key === key);
    if (!failure) return;
    if (!rows.get(failure)?.row.isConnected) {
      for (const one of [text, verdict, family, dialect]) one.value = "";
      filter();
    }
    open.add(failure);
    rows.get(failure).draw();
    rows.get(failure).row.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", follow);
  queueMicrotask(follow);
  const legend = element("p", { class: "note legend" }, "Text: ",
    ...["content", "reasoning", "call", "markup", "near_miss"].map((kind) => element("span", { class: kind }, kind.replace("_", " "))));
  return section("Failed transcripts", note, element("div", {}, legend, element("div", { class: "filters" }, text, verdict, family, dialect, count), list.made), "failed");
}

document.getElementById("about").textContent = `llmcore ${figures.version}, written ${figures.written}`;
document.getElementById("main").append(overview(), tables(), element("div", { class: "grid", style: "margin-top:1rem" }, failedSection()));
