// Placed by 'souvenance hermes install', which also renews and removes it.
import * as React from "react";

export default {
  id: "souvenance",
  name: "Souvenance",
  register(ctx) {
    const ask = (path, given) => ctx.rest(`/${path}`, given && { method: "POST", body: given });
    const Pages = memoryPages(React, ask);
    const data = { placement: "right", width: "420px" };
    const render = () => React.createElement(Pages);
    ctx.register({ id: "pane", area: "panes", title: "Memory", data, render });
  },
};

// What follows is the dashboard's: tests/hermes/plugin_folder.py copies it from there.
/** The pages, as one component. `ask` brings what the host answers at a path; with `given`, to a POST of it. */
function memoryPages(React, ask) {
  const h = React.createElement;
  const { useEffect, useState } = React;
  const LEVELS = { explicit: "stated", deductive: "deduced", inductive: "generalised", contradiction: "contradictory" };
  const STYLE = `
    .souvenance { max-width: 60rem; padding: 1rem; display: grid; gap: 1.25rem; align-content: start; line-height: 1.5; }
    .souvenance h2 { font-size: 1.05rem; font-weight: 600; margin: 0 0 .5rem; }
    .souvenance h3 { font-weight: 600; margin: .75rem 0 .25rem; }
    .souvenance p { margin: 0; }
    .souvenance .faint { opacity: .7; font-size: .85em; }
    .souvenance ul, .souvenance ol { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
    .souvenance li, .souvenance pre { border: 1px solid color-mix(in srgb, currentColor 22%, transparent); padding: .6rem .75rem; }
    .souvenance pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: .85em; }
    .souvenance li { overflow-wrap: anywhere; }
    .souvenance summary { cursor: pointer; }
    .souvenance .left { opacity: .75; border-style: dashed; }
    .souvenance button, .souvenance input[type=text], .souvenance input[type=number] { font: inherit; color: inherit;
      background: transparent; border: 1px solid color-mix(in srgb, currentColor 45%, transparent); padding: .25rem .7rem; }
    .souvenance button { cursor: pointer; }
    .souvenance button[aria-pressed=true] { background: color-mix(in srgb, currentColor 18%, transparent); font-weight: 600; }
    .souvenance button:disabled { opacity: .5; cursor: default; }
    .souvenance :focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
    .souvenance .row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
    .souvenance .grow { flex: 1 1 14rem; min-width: 0; }
    .souvenance .trouble { border: 1px solid currentColor; padding: .6rem .75rem; font-weight: 600; }
    .souvenance .bar { height: .25rem; background: currentColor; opacity: .6; min-width: 1px; }
    .souvenance .signals { display: grid; grid-template-columns: auto 6rem auto; gap: .1rem .5rem; align-items: center;
      justify-content: start; font-size: .8em; margin-top: .4rem; }`;

  const day = (moment) =>
    moment ? new Date(moment).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" }) : "";
  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  /** What went wrong, in the words of the answer if it has some. */
  function told(error) {
    const text = String((error && error.message) || error);
    try {
      const { detail, hint } = JSON.parse(text.slice(text.indexOf("{")));
      if (typeof detail === "string") return [detail, hint].filter(Boolean).join(". ");
    } catch {
      /* It has none. */
    }
    return text;
  }

  function Button({ children, ...more }) {
    return h("button", { type: "button", ...more }, children);
  }

  /** Asks once more before it does what can't be undone. */
  function Sure({ label, sure, busy, act }) {
    const [asked, setAsked] = useState(false);
    if (!asked) return h(Button, { disabled: busy, onClick: () => setAsked(true) }, label);
    return h(
      React.Fragment,
      null,
      h(Button, { disabled: busy, onClick: act }, sure),
      h(Button, { onClick: () => setAsked(false) }, "Keep it"),
    );
  }

  function Fact({ fact, observer, editable, busy, change }) {
    const [text, setText] = useState(null);
    const about = fact.said_at ? `said on ${day(fact.said_at)}` : fact.by_hand ? "written by hand" : "";
    const earlier = fact.earlier.map((old) => `before: ${old.value}${old.until ? ` (until ${day(old.until)})` : ""}`);
    const save = (event) => {
      event.preventDefault();
      change({ observer, before: fact.text, after: text });
    };
    return h(
      "li",
      null,
      text === null
        ? h("p", { dir: "auto" }, fact.text)
        : h(
            "form",
            { className: "row", onSubmit: save },
            h("input", {
              type: "text", className: "grow", value: text, dir: "auto", "aria-label": "What is true",
              onChange: (event) => setText(event.target.value),
            }),
            h("button", { disabled: busy || !text.trim() }, "Save"),
            h(Button, { onClick: () => setText(null) }, "Cancel"),
          ),
      h("p", { className: "faint" }, [about, ...earlier].filter(Boolean).join(" · ")),
      editable && text === null &&
        h(
          "div",
          { className: "row" },
          h(Button, { onClick: () => setText(fact.text) }, "Correct"),
          h(Sure, { label: "Remove", sure: "Remove it from the card", busy, act: () => change({ observer, before: fact.text }) }),
        ),
    );
  }

  function NewFact({ observer, busy, change }) {
    const [text, setText] = useState("");
    const add = (event) => {
      event.preventDefault();
      change({ observer, after: text });
      setText("");
    };
    return h(
      "form",
      { className: "row", onSubmit: add },
      h("input", {
        type: "text", className: "grow", value: text, dir: "auto", placeholder: "Home: Porto", "aria-label": "A new fact",
        onChange: (event) => setText(event.target.value),
      }),
      h("button", { disabled: busy || !text.trim() }, "Add"),
    );
  }

  /** The agent's view. That of the person themselves, which serves agents that have none yet, is closed at first. */
  function Known({ card, page, busy, change, forget }) {
    const [first] = page.cards;
    const title = `What ${card.observer === page.person ? "is known" : `${card.observer} knows`} of ${page.person}`;
    if (card !== first && !card.facts.length && !card.conclusions.length) return null;
    return h(
      card === first ? "section" : "details",
      { "aria-label": title },
      card === first ? h("h2", null, title) : h("summary", null, `${title} by agents that have no view of their own`),
      h("h3", null, "Facts"),
      !card.facts.length && h("p", { className: "faint" }, "No plain facts are known yet."),
      h("ul", null, card.facts.map((fact) =>
        h(Fact, { key: fact.text, fact, observer: card.observer, editable: page.editable, busy, change }))),
      page.editable && h("div", { style: { marginTop: ".5rem" } }, h(NewFact, { observer: card.observer, busy, change })),
      card.conclusions.length > 0 && h("h3", null, "Conclusions"),
      h("ul", null, card.conclusions.map((one) =>
        h(
          "li",
          { key: one.id },
          h("p", { dir: "auto" }, one.content),
          h("p", { className: "faint" }, `${LEVELS[one.level] || one.level} · ${day(one.created_at)}`),
          h("div", { className: "row" },
            h(Sure, { label: "Forget …", sure: "Forget it for good", busy, act: () => forget({ id: one.id }) })),
        ))),
    );
  }

  function Person() {
    const [page, setPage] = useState(null);
    const [trouble, setTrouble] = useState("");
    const [busy, setBusy] = useState(true);
    const load = () => ask("person").then(setPage).then(() => setTrouble(""));
    const doing = (work) => {
      setBusy(true);
      work().catch((error) => setTrouble(told(error))).finally(() => setBusy(false));
    };
    useEffect(() => doing(load), []);
    const act = (path) => (given) => doing(() => ask(path, given).then(load));
    const sessions = (page && page.known && page.known.sessions) || [];
    return h(
      React.Fragment,
      null,
      trouble && h("p", { className: "trouble", role: "alert" }, trouble),
      !page && !trouble && h("p", { role: "status" }, "Looking …"),
      page && !page.person && h("p", null, "Nothing is remembered yet. Start a conversation and tell it something."),
      page && page.person &&
        h("p", null, "Memory of ", h("strong", null, page.person),
          h("span", { className: "faint" }, ` · profile ${page.profile} · ${page.where || "kept on this machine"}`)),
      page && page.cards.map((card) =>
        h(Known, { key: card.observer, card, page, busy, change: act("card"), forget: act("forget") })),
      sessions.length > 0 &&
        h(
          "section",
          { "aria-label": "Sessions" },
          h("h2", null, `Sessions (${page.known.total})`),
          h("ul", null, sessions.map((one) =>
            h("li", { key: one.name }, one.name,
              h("span", { className: "faint" }, ` · ${day(one.last)} · ${many(one.messages, "message")}`)))),
        ),
    );
  }

  function Tried({ page }) {
    return h(
      React.Fragment,
      null,
      h(
        "section",
        { "aria-label": "The text" },
        h("h2", null, `The text, word for word${page.tokens === null ? "" : ` (${page.tokens} of ${page.budget} tokens)`}`),
        page.text ? h("pre", { dir: "auto" }, page.text) : h("p", null, "Memory adds nothing."),
      ),
      page.messages.length > 0 &&
        h(
          "section",
          { "aria-label": "The messages" },
          h("h2", null, "The messages, best first"),
          Object.entries(page.why).map(([reason, words]) =>
            h("p", { key: reason, className: "faint" }, h("strong", null, reason), `: ${words}`)),
          h("ol", null, page.messages.map((one) =>
            h(
              "li",
              { key: one.id, className: one.left_out ? "left" : "given" },
              h("p", { className: "faint" },
                h("strong", null, one.left_out ? `Left out: ${one.left_out}` : "Given"), ` · ${day(one.said_at)} · ${one.session}`),
              h("p", { dir: "auto" }, one.text),
              h("div", { className: "signals" }, one.signals.flatMap(([name, added, length]) => [
                h("span", { key: name }, name),
                h("span", { key: `${name} bar`, className: "bar", style: { width: `${length}%` } }),
                h("span", { key: `${name} number` }, added.toFixed(2)),
              ])),
            ))),
        ),
    );
  }

  function Recall() {
    const [message, setMessage] = useState("");
    const [tokens, setTokens] = useState("");
    const [page, setPage] = useState(null);
    const [trouble, setTrouble] = useState("");
    const [busy, setBusy] = useState(false);
    const attempt = (event) => {
      event.preventDefault();
      setBusy(true);
      ask("recall", { message, ...(tokens ? { tokens: Number(tokens) } : {}) })
        .then((found) => { setPage(found); setTrouble(""); })
        .catch((error) => { setPage(null); setTrouble(told(error)); })
        .finally(() => setBusy(false));
    };
    return h(
      React.Fragment,
      null,
      h("p", null, "Type what you would say. You see the exact text that memory adds, and why the rest is left out."),
      h(
        "form",
        { className: "row", onSubmit: attempt },
        h("input", {
          type: "text", className: "grow", value: message, dir: "auto", maxLength: 4000, "aria-label": "What you would say",
          placeholder: "Where do I live?", onChange: (event) => setMessage(event.target.value),
        }),
        h("label", { className: "row" }, "Budget", h("input", {
          type: "number", min: 1, value: tokens, placeholder: "usual", style: { width: "7rem" },
          onChange: (event) => setTokens(event.target.value),
        })),
        h("button", { disabled: busy || !message.trim() }, busy ? "Trying …" : "Try it"),
      ),
      trouble && h("p", { className: "trouble", role: "alert" }, trouble),
      page && h(Tried, { page }),
    );
  }

  return function MemoryPages() {
    const [shown, setShown] = useState("person");
    const tab = (name, label) => h(Button, { "aria-pressed": shown === name, onClick: () => setShown(name) }, label);
    return h(
      "div",
      { className: "souvenance" },
      h("style", null, STYLE),
      h("div", { className: "row" }, tab("person", "Person"), tab("recall", "Recall")),
      shown === "person" ? h(Person) : h(Recall),
    );
  };
}
