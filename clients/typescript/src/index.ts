export type { SouvenanceOptions } from "./connection.js";
export type { AboutOptions, AddOptions, ChatOptions, Level, NewMessage, SearchOptions } from "./conversations.js";
export { Peer, Session } from "./conversations.js";
export { SouvenanceError } from "./errors.js";
export type { Forgettable, GetOptions, ListOptions, NamespacesOptions, PutOptions } from "./lines.js";
export { type MintOptions, Souvenance } from "./memory.js";
export type { CallOptions } from "./requests.js";
export type { Conclusion, Context, Forgotten, Line, Message } from "./results.js";
