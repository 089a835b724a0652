"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const cards = [...document.querySelectorAll("article")];
  const links = new Map([...document.querySelectorAll("#list a")].map((a) => [a.dataset.card, a]));
  const changesOf = new Map(cards.map((card) => [card, [...card.querySelectorAll(".change:not(.with)")]]));
  const byUnit = new Map();
  for (const list of changesOf.values())
    for (const change of list) {
      if (!byUnit.has(change.dataset.unit)) byUnit.set(change.dataset.unit, []);
      byUnit.get(change.dataset.unit).push(change);
    }

  const key = `symfix/${data.series}/${data.base}`;
  const store = {
    read(name) { try { return localStorage.getItem(name); } catch { return null; } },
    write(name, text) { try { localStorage.setItem(name, text); } catch { /* a page from disk may have no storage */ } },
  };
  let decided = {};
  try { decided = JSON.parse(store.read(key) || "{}"); } catch { decided = {}; }
  decided = Object.fromEntries(Object.entries(decided).filter(([unit]) => byUnit.has(unit)));

  let card = null;
  let here = null;

  function show(next, scroll = true) {
    if (!next || next === card) return;
    if (card) { card.hidden = "until-found"; links.get(card.id).removeAttribute("aria-current"); }
    card = next;
    card.hidden = false;
    const link = links.get(card.id);
    link.setAttribute("aria-current", "true");
    link.scrollIntoView({ block: "nearest" });
    if (location.hash.slice(1) !== card.id) history.replaceState(null, "", `#${card.id}`);
    if (scroll) scrollTo(0, 0);
    point(null);
    drawer(false);
  }

  function point(change) {
    if (here) here.classList.remove("here");
    here = change;
    if (!here) return;
    here.classList.add("here");
    here.scrollIntoView({ block: "nearest" });
    const box = here.getBoundingClientRect();
    if (box.top < 110 || box.bottom > innerHeight) here.scrollIntoView({ block: box.height > innerHeight - 140 ? "start" : "center" });
  }

  const shownCards = () => cards.filter((one) => !links.get(one.id).parentElement.hidden);
  function go(step) {
    const list = shownCards();
    const at = list.indexOf(card);
    show(list[at < 0 ? 0 : Math.min(Math.max(at + step, 0), list.length - 1)]);
  }
  function move(step) {
    const list = changesOf.get(card) || [];
    if (!list.length) return;
    const at = here ? list.indexOf(here) + step : step > 0 ? 0 : list.length - 1;
    if (list[at]) point(list[at]);
  }

  function decide(units, verdict) {
    for (const unit of units) {
      if (verdict) decided[unit] = verdict; else delete decided[unit];
      for (const change of byUnit.get(unit)) paint(change);
    }
    store.write(key, JSON.stringify(decided));
    count();
  }
  function paint(change) {
    const verdict = decided[change.dataset.unit];
    change.classList.toggle("accepted", verdict === "accepted");
    change.classList.toggle("rejected", verdict === "rejected");
    for (const button of change.querySelectorAll("[data-do]")) button.setAttribute("aria-pressed", String(button.dataset.do === verdict));
  }
  function count() {
    const done = Object.keys(decided).length;
    const rejected = Object.values(decided).filter((verdict) => verdict === "rejected").length;
    $("bar").style.width = `${byUnit.size ? (100 * done) / byUnit.size : 0}%`;
    const before = data.rejected.length;
    $("tally").textContent = `${done} of ${byUnit.size} decided${rejected ? `, ${rejected} rejected` : ""}${before ? `, ${before} left out before` : ""}`;
    for (const one of cards) {
      const units = new Set(changesOf.get(one).map((change) => change.dataset.unit));
      const mine = [...units].filter((unit) => decided[unit]);
      const no = mine.filter((unit) => decided[unit] === "rejected").length;
      document.querySelector(`[data-mark="${one.id}"]`).textContent =
        mine.length === 0 ? "" : mine.length === units.size ? (no ? `✕ ${no}` : "✓") : `${mine.length}/${units.size}`;
    }
  }

  function decisions() {
    const rows = [...data.rejected];
    for (const [unit, verdict] of Object.entries(decided))
      for (const item of data.units[unit]) rows.push({ ...item, verdict });
    rows.sort((a, b) => (a.request + a.path < b.request + b.path ? -1 : 1));
    return { version: 1, series: data.series, base: data.base, decisions: rows };
  }
  function save() {
    const text = JSON.stringify(decisions(), null, 1) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `${data.series}-decisions.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    toast(`symfix series build --name ${data.series} --decisions ${link.download}`);
  }
  let timer = 0;
  function toast(text) {
    $("toast").textContent = text;
    $("toast").classList.add("up");
    clearTimeout(timer);
    timer = setTimeout(() => $("toast").classList.remove("up"), 4000);
  }

  function filter() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [rule, mode, verdict] = ["rule", "mode", "verdict"].map((id) => $(id).value);
    let any = false;
    for (const link of links.values()) {
      const all = link.dataset.words.toLowerCase();
      const fits = words.every((word) => all.includes(word)) && (!rule || link.dataset.rules.split(" ").includes(rule))
        && (!mode || link.dataset.modes.split(" ").includes(mode)) && (!verdict || link.dataset.verdict === verdict);
      link.parentElement.hidden = !fits;
      any = any || fits;
    }
    $("none").hidden = any;
    if (any && card && links.get(card.id).parentElement.hidden) show(shownCards()[0]);
  }

  function theme(name) {
    document.documentElement.dataset.theme = name;
    store.write("symfix/theme", name);
  }
  const turn = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  function drawer(open) {
    $("side").classList.toggle("open", open);
    $("menu").setAttribute("aria-expanded", String(open));
  }

  theme(store.read("symfix/theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  for (const [unit, list] of byUnit) {
    const linked = list.length > 1 ? `decided together with ${list.length - 1} other place${list.length > 2 ? "s" : ""}` : "";
    for (const change of list) {
      if (decided[unit]) paint(change);
      const line = change.querySelector(".linked");
      if (line) line.textContent = linked;
    }
  }
  count();

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button, a[data-card], .change");
    if (!button) return;
    if (button.dataset.do) {
      const change = button.closest(".change");
      const same = decided[change.dataset.unit] === button.dataset.do;
      decide([change.dataset.unit], same ? null : button.dataset.do);
      point(change);
    } else if (button.dataset.all) {
      decide(new Set(changesOf.get(card).map((change) => change.dataset.unit)), button.dataset.all);
    } else if (button.dataset.go) go(Number(button.dataset.go));
    else if (button.dataset.card) { event.preventDefault(); show($(button.dataset.card)); }
    else if (button.matches(".change:not(.with)")) { if (!getSelection().toString()) point(button); }
    else if (button.id === "export") save();
    else if (button.id === "theme") turn();
    else if (button.id === "help") $("keys").showModal();
    else if (button.id === "menu") drawer(!$("side").classList.contains("open"));
  });
  for (const id of ["search", "rule", "mode", "verdict"]) $(id).addEventListener("input", filter);
  for (const one of cards) one.addEventListener("beforematch", () => show(one, false));
  addEventListener("hashchange", () => show($(location.hash.slice(1))));

  const act = (verdict) => { if (here) { decide([here.dataset.unit], verdict); if (verdict) move(1); } };
  const whole = (verdict) => decide(new Set(changesOf.get(card).map((change) => change.dataset.unit)), verdict);
  const keys = {
    j: () => move(1), k: () => move(-1), n: () => go(1), p: () => go(-1), a: () => act("accepted"), r: () => act("rejected"),
    u: () => act(null), A: () => whole("accepted"), R: () => whole("rejected"), x: save, t: turn,
    "/": () => { drawer(true); $("search").focus(); $("search").select(); }, "?": () => $("keys").showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (event.target === $("search")) { $("search").value = ""; filter(); }
      document.activeElement.blur();
      drawer(false);
      return;
    }
    if (event.key === "Enter" && event.target === $("search")) { event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (event.target.matches("input, select, textarea")) return;
    if (keys[event.key] && card) { event.preventDefault(); keys[event.key](); }
  });

  show($(location.hash.slice(1)) || cards[0]);
})();
