import { Connection, type SouvenanceOptions } from "./connection.js";
import { Peer, Session } from "./conversations.js";
import { LineMethods, namesOf } from "./lines.js";
import type { CallOptions } from "./requests.js";

const WAIT_MS = 60_000;
const POLL_MS = 100;

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

  /** Iterate over the names of all peers of the workspace. */
  peers(options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.connection.names("/v3/workspaces/{workspace_id}/peers/list", options);
  }

  /** Iterate over the names of all sessions of the workspace. */
  sessions(options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.connection.names("/v3/workspaces/{workspace_id}/sessions/list", options);
  }

  /**
   * Wait until conclusions are drawn from all messages. Return false if it takes longer than `withinMs`, which is
   * 60000 by default. The token must open the whole workspace.
   */
  async wait(options: CallOptions & { withinMs?: number } = {}): Promise<boolean> {
    const end = Date.now() + (options.withinMs ?? WAIT_MS);
    for (;;) {
      const path = "/v3/workspaces/{workspace_id}/queue/status";
      const left = await this.connection.ask("get", path, { repeatable: true }, options);
      if (left.pending_work_units + left.in_progress_work_units === 0) return true;
      if (Date.now() >= end) return false;
      await new Promise((go) => setTimeout(go, POLL_MS));
    }
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
