// Adds new rows of the audit log to the list as the server tells of them. It can be paused.
"use strict";

(() => {
  const MOST_ROWS = 200;
  const list = document.getElementById("tail");
  if (!list) return;
  let after = list.dataset.after;
  let source = null;

  const part = (name, text, className) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  };

  const item = (row) => {
    const made = document.createElement("li");
    const time = part("time", row.time);
    time.dateTime = row.at;
    const said = document.createElement("span");
    said.append(part("bdi", row.who), ` ${row.what}`);
    if (row.where) said.append(" ", part("span", `in ${row.where}`, "about"));
    made.append(time, " ", said);
    if (row.refused) made.append(" ", part("span", `refused: ${row.refused}`, "warn"));
    return made;
  };

  const status = part("p", "", "hint");
  status.setAttribute("role", "status");
  const button = part("button", "Pause");
  button.type = "button";
  const watching = part("div", "", "watch");
  watching.append(button, status);
  list.before(watching);

  const watch = () => {
    const address = new URL(list.dataset.source, location.href);
    address.searchParams.set("after", after);
    source = new EventSource(address);
    source.onopen = () => { status.textContent = "Live."; };
    source.onerror = () => {
      status.textContent = source.readyState === EventSource.CLOSED ? "The server ended this. Load the page again." : "Connecting again …";
    };
    source.onmessage = (event) => {
      after = event.lastEventId || after;
      for (const row of JSON.parse(event.data)) list.prepend(item(row));
      while (list.children.length > MOST_ROWS) list.lastElementChild.remove();
      if (list.children.length) document.getElementById("tail-empty")?.remove();
    };
    source.addEventListener("refused", (event) => {
      source.close();
      status.textContent = `The server ended this: ${JSON.parse(event.data)}.`;
    });
  };

  button.addEventListener("click", () => {
    if (source) {
      source.close();
      source = null;
      status.textContent = "Paused.";
      button.textContent = "Go on";
    } else {
      watch();
      button.textContent = "Pause";
    }
  });
  status.textContent = "Connecting …";
  watch();
})();
