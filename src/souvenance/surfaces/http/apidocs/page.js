"use strict";

// Shows openapi.json. Everything that comes from it is set as text, never as HTML.

const GROUPS = [
  ["Honcho API", /^\/v3\//],
  ["Chat", /^\/v1\/(chat|responses|models)/],
  ["Memory", /^\/v1\//],
  ["MCP", /^\/mcp/],
  ["Sign-in", /^\/(oauth|authorize|device|token|register|revoke|\.well-known)/],
  ["Server", /./],
];
const DEEPEST = 6;

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function resolver(api) {
  return (schema) => {
    let found = schema || {};
    for (let step = 0; found.$ref && step < 10; step += 1) {
      found = found.$ref.split("/").slice(1).reduce((at, name) => at[name], api);
    }
    return found;
  };
}

function nameOf(schema) {
  return schema && schema.$ref ? schema.$ref.split("/").pop() : "";
}

function typeOf(schema, resolve) {
  const found = resolve(schema);
  const choices = found.anyOf || found.oneOf;
  if (choices) return choices.map((one) => typeOf(one, resolve)).join(" or ");
  if (found.enum) return found.enum.map((one) => JSON.stringify(one)).join(" or ");
  if ("const" in found) return JSON.stringify(found.const);
  if (found.type === "array") return `list of ${typeOf(found.items || {}, resolve)}`;
  const type = Array.isArray(found.type) ? found.type.join(" or ") : found.type;
  return nameOf(schema) || found.format || type || "anything";
}

function limitsOf(schema) {
  const told = [];
  const words = {
    minLength: "at least % characters", maxLength: "at most % characters", minItems: "at least % items",
    maxItems: "at most % items", minimum: "from %", maximum: "up to %", pattern: "matches %",
  };
  for (const [key, text] of Object.entries(words)) {
    if (key in schema) told.push(text.replace("%", () => schema[key]));
  }
  if ("default" in schema && schema.default !== null) told.push(`default ${JSON.stringify(schema.default)}`);
  return told.join(", ");
}

function partsOf(schema, resolve) {
  const found = resolve(schema);
  if (found.properties) return found;
  if (found.type === "array") return partsOf(found.items || {}, resolve);
  for (const one of found.anyOf || found.oneOf || found.allOf || []) {
    const parts = partsOf(one, resolve);
    if (parts) return parts;
  }
  return null;
}

function fieldsOf(schema, resolve, depth, above) {
  const parts = partsOf(schema, resolve);
  if (!parts || depth > DEEPEST || above.includes(parts)) return null;
  const list = make("ul", { class: "fields" });
  for (const [name, field] of Object.entries(parts.properties)) {
    const required = (parts.required || []).includes(name) ? ", required" : "";
    const found = resolve(field);
    const limits = limitsOf(found);
    const text = [
      make("code", {}, name),
      make("span", { class: "soft" }, ` ${typeOf(field, resolve)}${required}${limits ? `; ${limits}` : ""}`),
      found.description ? make("div", { class: "soft" }, found.description) : null,
    ];
    const inner = fieldsOf(field, resolve, depth + 1, [...above, parts]);
    list.append(make("li", {}, ...(inner ? [make("details", {}, make("summary", {}, ...text), inner)] : text)));
  }
  return list;
}

function exampleOf(schema, resolve, depth, name) {
  const found = resolve(schema);
  const choices = (found.anyOf || found.oneOf || []).filter((one) => resolve(one).type !== "null");
  if (choices.length) return exampleOf(choices[0], resolve, depth, name);
  if ("const" in found) return found.const;
  if (found.enum) return found.enum[0];
  if (found.properties && depth < 4) {
    const required = Object.keys(found.properties).filter((key) => (found.required || []).includes(key));
    const pairs = required.map((key) => [key, exampleOf(found.properties[key], resolve, depth + 1, key)]);
    return Object.fromEntries(pairs);
  }
  if (found.type === "array") return depth < 4 ? [exampleOf(found.items || {}, resolve, depth + 1, name)] : [];
  if (found.type === "integer" || found.type === "number") return found.minimum || 1;
  if (found.type === "boolean") return true;
  return found.type === "object" ? {} : name || "text";
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function curlOf(path, method, operation, resolve) {
  const required = (operation.parameters || []).filter((one) => one.required && one.in === "query");
  const query = required.map((one) => `${one.name}=${one.name.toUpperCase()}`).join("&");
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase()) + (query ? `?${query}` : "");
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${quoted(location.origin + filled)}`];
  if (!operation.security || operation.security.length) lines.push('-H "Authorization: Bearer $TOKEN"');
  const content = (operation.requestBody || {}).content || {};
  const media = Object.keys(content)[0];
  if (media === "application/json") {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d ${quoted(JSON.stringify(exampleOf(content[media].schema, resolve, 0, "")))}`);
  } else if (media) {
    const form = media.startsWith("multipart");
    const fields = exampleOf(content[media].schema, resolve, 0, "");
    for (const [name, value] of Object.entries(fields)) {
      lines.push(form ? `-F ${quoted(`${name}=${name === "file" ? "@notes.txt" : value}`)}` : `-d ${quoted(`${name}=${value}`)}`);
    }
  }
  return lines.join(" \\\n  ");
}

function table(head, rows) {
  const cells = (tag, row) => row.map((text) => make(tag, tag === "th" ? { scope: "col" } : {}, text));
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells("td", row))))));
}

function inside(path, method, operation, resolve) {
  const parts = make("div", { class: "inside" });
  const part = (title, ...children) => parts.append(make("h3", {}, title), ...children);
  if (operation.description) parts.append(make("p", {}, operation.description));
  if (operation.parameters && operation.parameters.length) {
    part("Parameters", table(["Name", "Where", "Type", "Required"], operation.parameters.map((one) => [
      make("code", {}, one.name), one.in,
      [typeOf(one.schema, resolve), limitsOf(resolve(one.schema))].filter(Boolean).join("; "),
      one.required ? "yes" : "no",
    ])));
  }
  for (const [media, { schema }] of Object.entries((operation.requestBody || {}).content || {})) {
    const fields = fieldsOf(schema, resolve, 0, []);
    part(`Body, ${media}`, fields || make("p", { class: "soft" }, typeOf(schema, resolve)));
  }
  const answers = Object.entries(operation.responses || {});
  for (const [status, answer] of answers.filter(([code]) => code < "300")) {
    const schema = ((answer.content || {})["application/json"] || {}).schema;
    const fields = schema ? fieldsOf(schema, resolve, 0, []) : null;
    part(`Answer ${status}`, fields || make("p", { class: "soft" }, schema ? typeOf(schema, resolve) : answer.description));
  }
  const refused = answers.filter(([code]) => code >= "300");
  if (refused.length) {
    part("Refused with", table(["Status", "Codes"], refused.map(([status, answer]) => [status, answer.description || ""])));
  }
  const example = curlOf(path, method, operation, resolve);
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(example);
    copy.textContent = "Copied";
  });
  part("Example", make("pre", { tabindex: "0" }, make("code", {}, example)), navigator.clipboard ? copy : null);
  return parts;
}

function shown(path, method, operation, resolve) {
  const details = make("details", { class: "operation", id: `${method}-${path.replace(/\W+/g, "-")}` },
    make("summary", {},
      make("span", { class: `method ${method}` }, method),
      make("span", { class: "path" }, path),
      make("span", { class: "soft" }, operation.summary || "")));
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(inside(path, method, operation, resolve));
  };
  details.addEventListener("toggle", fill);
  details.dataset.words = `${method} ${path} ${operation.summary || ""} ${operation.operationId || ""}`.toLowerCase();
  return details;
}

function filterBy(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const section of document.querySelectorAll("section")) {
    let any = false;
    for (const one of section.querySelectorAll("details.operation")) {
      one.hidden = !words.every((word) => one.dataset.words.includes(word));
      any = any || !one.hidden;
      count += one.hidden ? 0 : 1;
    }
    section.hidden = !any;
  }
  document.getElementById("count").textContent = count === 1 ? "1 operation" : `${count} operations`;
}

function show(api) {
  const resolve = resolver(api);
  document.title = `${api.info.title} API`;
  document.getElementById("title").textContent = document.title;
  document.getElementById("version").textContent = api.info.version;
  document.getElementById("summary").textContent = api.info.summary || "";
  const groups = new Map(GROUPS.map(([name]) => [name, []]));
  for (const [path, methods] of Object.entries(api.paths)) {
    const [group] = GROUPS.find(([, prefix]) => prefix.test(path));
    for (const [method, operation] of Object.entries(methods)) {
      groups.get(group).push(shown(path, method, operation, resolve));
    }
  }
  for (const name of ["Memory", "Honcho API", "Chat", "MCP", "Sign-in", "Server"]) {
    if (groups.get(name).length) {
      document.getElementById("operations").append(make("section", {}, make("h2", {}, name), ...groups.get(name)));
    }
  }
  const filter = document.getElementById("filter");
  filter.addEventListener("input", () => filterBy(filter.value));
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  filterBy(filter.value);
  const linked = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (linked) linked.open = true;
}

fetch("openapi.json")
  .then((answer) => answer.json())
  .then(show)
  .catch(() => document.getElementById("operations").append(make("p", { role: "alert" }, "The description can't be read. Is the server up?")));
