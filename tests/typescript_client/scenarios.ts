/**
 * What the client does, told as JSON. Its arguments: the server's URL, a token, a narrow one, and the URLs of a
 * server that never answers and of one that points to the first.
 */

import { Souvenance, SouvenanceError } from "souvenance";

const [url = "", token = "", narrow = "", silent = "", moved = ""] = process.argv.slice(2);
const memory = new Souvenance({ url, token });

/** What a call throws. */
async function thrown(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof SouvenanceError)) return { name: (error as Error).name, message: (error as Error).message };
    const { code, hint, status, retryable, message } = error;
    return { code, hint, status, retryable, message };
  }
  return "nothing";
}

/** A memory behind a network that does this to the first requests, and how many requests there were. */
function behind(...faults: ((...sent: Parameters<typeof fetch>) => Promise<Response>)[]) {
  let requests = 0;
  const counted: typeof fetch = (...sent) => (faults[requests++] ?? fetch)(...sent);
  return { memory: new Souvenance({ url, token, fetch: counted }), requests: () => requests };
}

/** The server does what it is asked, and its answer gets lost. */
const losesTheAnswer: typeof fetch = async (...sent) => {
  await (await fetch(...sent)).text();
  throw new TypeError("the connection was lost");
};

const isBusy: typeof fetch = async () => {
  const told = JSON.stringify({ error: "server_busy", detail: "it is busy", hint: "Wait." });
  return new Response(told, { status: 429, headers: { "retry-after": "0" } });
};

const isNotSouvenance: typeof fetch = async () => new Response("<h1>Bad gateway</h1>", { status: 502 });

async function texts(lines: AsyncIterable<{ text: string }>): Promise<string[]> {
  const found = [];
  for await (const line of lines) found.push(line.text);
  return found;
}

async function all(names: AsyncIterable<string>): Promise<string[]> {
  const found = [];
  for await (const name of names) found.push(name);
  return found;
}

const scenarios = {
  async lines() {
    const met = new Date("2026-03-04T05:06:07Z");
    const id = await memory.put("I live in Lisbon", { metadata: { from: "a form" }, occurredAt: met });
    const [found] = await memory.get("Where do I live?", { limit: 1, namespaces: "personal" });
    const corrected = await memory.correct(id, "I live in Porto");
    const old = await memory.line(id);
    const now = await texts(memory.list());
    const ever = await texts(memory.list({ history: true }));
    const snapshot = await memory.snapshot();
    const would = await memory.forget(id, { dryRun: true });
    const forgotten = await memory.forget({ namespace: "personal" });
    const left = await texts(memory.list({ history: true }));
    return { found, id, corrected, old, now, ever, snapshot, would, forgotten, left };
  },

  async pages() {
    const writing = Array.from({ length: 103 }, (_, at) => memory.put(`line ${at}`, { namespace: "many" }));
    await Promise.all(writing);
    return new Set(await texts(memory.list({ namespaces: ["many"] }))).size;
  },

  async refusals() {
    const guest = new Souvenance({ url, token: narrow });
    return {
      denied: await thrown(guest.get("where?", { namespaces: "personal" })),
      writes: await thrown(guest.put("a line", { namespace: "travel" })),
      unknown: await thrown(memory.forget("01M7ENKXSQN27K8P92THXMV5N1")),
      wrong: await thrown(memory.put("a line", { namespace: "Not A Name" })),
      elsewhere: await thrown(memory.peer("..").card()),
      nameless: await thrown((async () => memory.peer(process.env.NO_SUCH_PERSON as string))()),
      nobody: await thrown(memory.session("monday").add("Hello")),
      malformed: await thrown(new Souvenance({ url, token: "nothing" }).get()),
    };
  },

  async narrowToken() {
    await memory.put("prefers the window seat", { namespace: "travel" });
    const minted = await memory.mint("traveller", { ops: "get", namespaces: "travel" });
    const guest = new Souvenance({ url, token: narrow });
    return {
      found: (await guest.get("which seat?")).map((line) => line.text),
      ofAnother: await new Souvenance({ url, token: minted }).get(),
      listed: (await texts(new Souvenance({ url, token: narrow }).list())).slice(0, 1),
    };
  },

  async peers() {
    const ann = memory.peer("ann");
    await ann.put("prefers tea", { namespace: "food" });
    return {
      ann: (await ann.get("tea or coffee?")).map((line) => line.text),
      bob: await memory.peer("bob").get("tea or coffee?"),
    };
  },

  async workspaces() {
    const work = new Souvenance({ url, token, workspace: "work" });
    await work.put("the build is green");
    await work.session("standup").add("The build is green.", { peer: "ann" });
    return {
      work: [await texts(work.list()), await texts(work.session("standup").messages())],
      peer: await texts(work.peer("ann").list()),
      here: [...(await texts(memory.list())), ...(await texts(memory.peer("ann").list()))],
      conversation: await thrown(texts(memory.session("standup").messages())),
    };
  },

  async conversation() {
    const ann = memory.peer("ann");
    const chat = ann.session("monday");
    const said = await chat.add("My name is Ann. I have a dog called Rex.", { metadata: { mood: "good" } });
    await chat.addAll([
      { peer: "bot", text: "Nice to meet you!" },
      { peer: "ann", text: "I'm allergic to nuts.", createdAt: new Date() },
    ]);
    const context = await chat.context("What is the dog called?", { tokens: 2000 });
    return {
      said,
      context: context.messages.map((message) => [message.peer, message.text]),
      read: await texts(chat.messages()),
      searched: (await chat.search("nuts", { limit: 1 })).map((message) => message.text),
      searchedByPeer: (await ann.search("dog", { limit: 1 })).map((message) => message.text),
      answers: [
        await chat.chat("What is the dog called?"),
        await ann.chat("What is the dog called?"),
        await memory.session("monday").chat("What is the dog called?", { level: "minimal" }),
      ],
      known: typeof (await ann.context("dogs")).representation,
      card: Array.isArray(await ann.card({ about: "bot" })),
      unknown: await memory.peer("nobody").chat("What is the dog called?"),
      deleted: (await chat.delete()) === undefined,
    };
  },

  async facts() {
    const work = new Souvenance({ url, token, workspace: "facts" });
    const ann = work.peer("ann");
    await ann.put("the build is green", { namespace: "work" });
    const chat = ann.session("monday");
    const slip = await chat.add("The code is 4711.");
    await chat.add("I live in Lisbon.");
    const waited = await work.wait({ withinMs: 60_000 });
    const stated = await ann.conclude("ann has a dog called Rex", { session: "monday" });
    const ofBob = await ann.conclude("bob likes jazz", { about: "bob" });
    const { id, createdAt, ...told } = stated;
    const noted = await ann.conclusions("Which dog?", { limit: 1 });
    await chat.forget(slip.id);
    return {
      waited,
      told: { ...told, id: id.length, dated: createdAt instanceof Date },
      noted: noted.map((one) => one.text),
      newest: (await ann.conclusions()).map((one) => one.text),
      aboutBob: (await ann.conclusions(undefined, { about: "bob" })).map((one) => [one.text, one.about === ofBob.about]),
      card: await ann.setCard(["Name: Ann", "Pet: Rex"]),
      read: await ann.card(),
      left: await texts(chat.messages()),
      peers: (await all(work.peers())).sort(),
      sessions: await all(work.sessions()),
      namespaces: await ann.namespaces(),
      wrong: await thrown(chat.forget(slip.id)),
    };
  },

  async repeats() {
    const read = behind(losesTheAnswer, losesTheAnswer);
    const added = behind(fetch, losesTheAnswer);
    const written = behind(losesTheAnswer);
    const named = behind(losesTheAnswer);
    const busy = behind(isBusy);
    const gone = behind(losesTheAnswer, losesTheAnswer, losesTheAnswer);
    const id = "01M7ENKXSQN27K8P92THXMV5N2";
    return {
      read: [(await read.memory.get()).length > 0, read.requests()],
      added: [(await added.memory.session("lossy").add("once", { peer: "ann" })).text, added.requests()],
      stored: await texts(memory.session("lossy").messages()),
      written: [await thrown(written.memory.put("perhaps", { namespace: "lossy" })), written.requests()],
      named: [(await named.memory.put("surely", { namespace: "lossy", id })) === id, named.requests()],
      busy: [typeof (await busy.memory.put("later", { namespace: "lossy" })), busy.requests()],
      lines: await texts(memory.list({ namespaces: "lossy" })),
      gone: [await thrown(gone.memory.get()), gone.requests()],
    };
  },

  async endings() {
    const hasty = new AbortController();
    const aborting = behind((...sent) => {
      const answer = fetch(...sent);
      hasty.abort();
      return answer;
    });
    return {
      aborted: await thrown(aborting.memory.get("anything", { signal: hasty.signal })),
      requests: aborting.requests(),
      before: await thrown(memory.get("anything", { signal: AbortSignal.abort(new Error("enough")) })),
      late: await thrown(new Souvenance({ url: silent, token }).get("anything", { timeoutMs: 30 })),
      moved: await thrown(new Souvenance({ url: moved, token }).get("anything")),
      foreign: await thrown(behind(isNotSouvenance, isNotSouvenance, isNotSouvenance).memory.get()),
    };
  },
};

const told: Record<string, unknown> = {};
for (const [name, play] of Object.entries(scenarios)) {
  const played: Promise<unknown> = play();
  told[name] = await played.catch(String);
}
console.log("Stop the server now.");
await new Promise((resolve) => process.stdin.once("data", resolve));
told.stopped = await thrown(memory.get("anything"));
console.log(JSON.stringify(told));
process.exit();
