import { Connection, type SouvenanceOptions } from "./connection.js";
import { Peer, Session } from "./conversations.js";
import { LineMethods, namesOf } from "./lines.js";
import type { CallOptions } from "./requests.js";

export interface MintOptions extends CallOptions {
  /** What the token may do: `put`, `get`, `list`, `snapshot`, `invalidate`, `forget` and others. */
  ops: string | readonly string[];
  /** `"*"` stands for all. */
  namespaces: string | readonly string[];
  /** The peers of conversations; `"*"` stands for all. */
  peers?: string | readonly string[];
  sessions?: string | readonly string[];
  /** 3600 by default. */
  ttlSeconds?: number;
}

/** The memory that a server has. */
export class Souvenance extends LineMethods {
  constructor(options: SouvenanceOptions) {
    super(new Connection(options));
  }

  /** A person or an agent, who has lines of their own. Nothing is stored until you write. */
  peer(name: string): Peer {
    return new Peer(this.connection, name);
  }

  /** A conversation. It is made in `namespace` when the first message is added. */
  session(name: string, options: { namespace?: string } = {}): Session {
    return new Session(this.connection, name, undefined, options.namespace);
  }

  /** Make a token that opens no more than this, for the memory of `subject`. */
  async mint(subject: string, options: MintOptions): Promise<string> {
    const body = {
      sub: subject,
      ops: namesOf(options.ops) ?? [],
      namespaces_allowed: namesOf(options.namespaces) ?? [],
      peers: namesOf(options.peers),
      sessions: namesOf(options.sessions),
      ttl_seconds: options.ttlSeconds,
      wid: await this.connection.workspace(options),
    };
    const server = await this.connection.of(undefined, options);
    return (await server.ask("post", "/v1/caps", { body, repeatable: false }, options)).cap;
  }
}
