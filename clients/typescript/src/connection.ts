import type { components, paths } from "./api.js";
import {
  type AnswerOf,
  type Asked,
  type CallOptions,
  type Method,
  type Operation,
  Server,
  type ServerOptions,
} from "./requests.js";

const ALL = "*";
const DEFAULT_WORKSPACE = "default";
const MOST_KEPT = 1_000;
const PAGE = 100;

export interface SouvenanceOptions extends ServerOptions {
  /** One workspace, if the token opens several. */
  workspace?: string;
}

/** The server, the workspace, and a token for each peer. */
export class Connection {
  readonly #server: Server;
  readonly #workspace: string | undefined;
  readonly #narrowed = new Map<string | undefined, Server>();
  #token: components["schemas"]["WhoAmIAnswer"] | undefined;

  constructor(options: SouvenanceOptions) {
    this.#server = new Server(options);
    this.#workspace = options.workspace;
  }

  /** The server, asked for the memory of that peer, or for the token's own. */
  async of(peer: string | undefined, options?: CallOptions): Promise<Server> {
    if (peer === undefined && this.#workspace === undefined) return this.#server;
    const known = this.#narrowed.get(peer);
    if (known) return known;
    const body = { sub: peer, wid: this.#workspace };
    const narrower = await this.#server.ask("post", "/v1/caps/attenuate", { body, repeatable: true }, options);
    const [oldest] = this.#narrowed.keys();
    if (this.#narrowed.size === MOST_KEPT) this.#narrowed.delete(oldest);
    const server = this.#server.with(narrower.cap);
    this.#narrowed.set(peer, server);
    return server;
  }

  /** The answer of a route of the workspace. */
  async ask<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    asked: Asked<Operation<P, M>>,
    options?: CallOptions,
  ): Promise<AnswerOf<Operation<P, M>>> {
    const names = { workspace_id: await this.workspace(options), ...asked.names };
    return (await this.of(undefined, options)).ask(method, path, { ...asked, names }, options);
  }

  /** The names of all items of a list of the workspace, read in pages as they are needed. */
  async *names(
    path: "/v3/workspaces/{workspace_id}/peers/list" | "/v3/workspaces/{workspace_id}/sessions/list",
    options?: CallOptions,
  ): AsyncGenerator<string, void, undefined> {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const found = await this.ask("post", path, { query: { page, size: PAGE }, body: {}, repeatable: true }, options);
      for (const one of found.items) yield one.id;
      pages = found.pages;
    }
  }

  /** The workspace that was asked for, or else that of the token. */
  async workspace(options?: CallOptions): Promise<string> {
    if (this.#workspace !== undefined) return this.#workspace;
    const { wid } = await this.#whoami(options);
    return wid === ALL ? DEFAULT_WORKSPACE : wid;
  }

  /** Whether the token allows the operation. */
  async grants(op: string, options?: CallOptions): Promise<boolean> {
    return (await this.#whoami(options)).ops.includes(op);
  }

  async #whoami(options?: CallOptions): Promise<components["schemas"]["WhoAmIAnswer"]> {
    this.#token ??= await this.#server.ask("get", "/v1/caps/whoami", { repeatable: true }, options);
    return this.#token;
  }
}
