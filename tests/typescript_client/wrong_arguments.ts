/** What the compiler must refuse. A line that it does not refuse is an error too. */

import { type Line, Souvenance } from "souvenance";

const memory = new Souvenance({ url: "http://127.0.0.1:8787", token: "a token" });
const ann = memory.peer("ann");

// @ts-expect-error: it needs a token.
new Souvenance({ url: "http://127.0.0.1:8787" });
// @ts-expect-error: a line is a text.
await memory.put(5);
// @ts-expect-error: the option is called namespace.
await memory.put("a line", { namespaces: "travel" });
// @ts-expect-error: times are dates.
await memory.put("a line", { expiresAt: "tomorrow" });
// @ts-expect-error: the option is called limit.
await memory.get("a question", { k: 3 });
// @ts-expect-error: what is forgotten has to be said.
await memory.forget();
// @ts-expect-error: one of them, not two.
await memory.forget({ id: "a", namespace: "travel" });
// @ts-expect-error: there is no such level.
await ann.chat("a question", { level: "highest" });
// @ts-expect-error: a message needs one who speaks.
await memory.session("monday").addAll([{ text: "a message" }]);
// @ts-expect-error: lines are iterated over, in pages.
const lines: Line[] = memory.list();
// @ts-expect-error: a line may have no score.
const score: number = (await memory.line("a")).score;
// @ts-expect-error: nothing may be known.
const answer: string = await ann.chat("a question");
export { answer, lines, score };
