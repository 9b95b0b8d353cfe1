import type { Connection } from "./connection.js";
import { invalidInput } from "./errors.js";
import { LineMethods } from "./lines.js";
import type { CallOptions } from "./requests.js";
import {
  type Conclusion,
  type ConclusionAnswer,
  type Context,
  conclusionOf,
  contextOfPeer,
  contextOfSession,
  type Message,
  messageOf,
} from "./results.js";

const PAGE = 100;
const MOST_FOUND = 10;

/** How hard a model thinks. */
export type Level = "minimal" | "low" | "medium" | "high" | "max";

export interface AboutOptions extends CallOptions {
  /** Another peer: the answer is then what this peer knows of that one. */
  about?: string;
}

export interface ChatOptions extends CallOptions {
  /** `low` by default. */
  level?: Level;
}

export interface SearchOptions extends CallOptions {
  /** 10 by default. */
  limit?: number;
}

/** A person or an agent: their lines, their conversations, and what is known of them. */
export class Peer extends LineMethods {
  constructor(
    connection: Connection,
    readonly name: string,
  ) {
    // Without a name it would be the token's own memory.
    if (!name) throw invalidInput("a peer needs a name", "Pass the name of a person or an agent.");
    super(connection, name);
  }

  /** A conversation in which this peer speaks. */
  session(name: string, options: { namespace?: string } = {}): Session {
    return new Session(this.connection, name, this.name, options.namespace);
  }

  /** Return the messages of this peer that answer `query` best. */
  async search(query: string, options: SearchOptions = {}): Promise<Message[]> {
    const found = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/peers/{peer_id}/search",
      { names: this.#names, body: { query, limit: options.limit }, repeatable: true },
      options,
    );
    return found.map(messageOf);
  }

  /** Return what is known of the peer; with `query`, what matters for it first. */
  async context(query?: string, options: AboutOptions = {}): Promise<Context> {
    const found = await this.connection.ask(
      "get",
      "/v3/workspaces/{workspace_id}/peers/{peer_id}/context",
      { names: this.#names, query: { target: options.about, search_query: query }, repeatable: true },
      options,
    );
    return contextOfPeer(found);
  }

  /**
   * Answer a question about the peer in words: by a model if the server has one, else by quotations.
   * Return null if nothing is known.
   */
  async chat(question: string, options: AboutOptions & ChatOptions = {}): Promise<string | null> {
    const { about: target, level: reasoning_level } = options;
    const answer = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/peers/{peer_id}/chat",
      { names: this.#names, body: { query: question, target, reasoning_level }, repeatable: true },
      options,
    );
    return answer.content;
  }

  /** Return the most important facts about the peer. */
  async card(options: AboutOptions = {}): Promise<string[]> {
    const found = await this.connection.ask(
      "get",
      "/v3/workspaces/{workspace_id}/peers/{peer_id}/card",
      { names: this.#names, query: { target: options.about }, repeatable: true },
      options,
    );
    return found.peer_card ?? [];
  }

  /** Replace the card, and return it as it was stored. */
  async setCard(facts: readonly string[], options: AboutOptions = {}): Promise<string[]> {
    const found = await this.connection.ask(
      "put",
      "/v3/workspaces/{workspace_id}/peers/{peer_id}/card",
      { names: this.#names, query: { target: options.about }, body: { peer_card: [...facts] }, repeatable: true },
      options,
    );
    return found.peer_card ?? [];
  }

  /** Return what was concluded about the peer: what answers `query` best, or the newest. */
  async conclusions(query?: string, options: AboutOptions & SearchOptions = {}): Promise<Conclusion[]> {
    const filters = { observer_id: this.name, observed_id: options.about ?? this.name };
    const limit = options.limit ?? MOST_FOUND;
    if (query !== undefined) {
      const found = await this.connection.ask(
        "post",
        "/v3/workspaces/{workspace_id}/conclusions/query",
        { body: { query, filters, top_k: limit }, repeatable: true },
        options,
      );
      return found.map(conclusionOf);
    }
    const page = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/conclusions/list",
      { query: { size: limit }, body: { filters }, repeatable: true },
      options,
    );
    return page.items.map(conclusionOf);
  }

  /** Store a fact about the peer. */
  async conclude(text: string, options: AboutOptions & { session?: string } = {}): Promise<Conclusion> {
    const about = options.about ?? this.name;
    for (const id of new Set([this.name, about])) {
      await this.connection.ask(
        "post",
        "/v3/workspaces/{workspace_id}/peers",
        { body: { id }, repeatable: true },
        options,
      );
    }
    const stated = { content: text, observer_id: this.name, observed_id: about, session_id: options.session };
    const [stored] = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/conclusions",
      { body: { conclusions: [stated] }, repeatable: false },
      options,
    );
    return conclusionOf(stored as ConclusionAnswer);
  }

  get #names(): { peer_id: string } {
    return { peer_id: this.name };
  }
}

export interface AddOptions extends CallOptions {
  /** Who speaks, if not the peer whose session this is. */
  peer?: string;
  metadata?: Record<string, unknown>;
  createdAt?: Date;
  /** A key of your own: within a day, the same key is stored once, also by another call. */
  key?: string;
}

export interface NewMessage {
  peer: string;
  text: string;
  metadata?: Record<string, unknown>;
  createdAt?: Date;
}

/** A conversation. */
export class Session {
  constructor(
    private readonly connection: Connection,
    readonly name: string,
    /** Who speaks if a message names nobody. */
    readonly peer?: string,
    private readonly namespace?: string,
  ) {}

  /** Add a message. The session and the peer are made if they are not there. */
  async add(text: string, options: AddOptions = {}): Promise<Message> {
    const peer = options.peer ?? this.peer;
    if (peer === undefined) throw invalidInput("nobody says who speaks", "Pass peer, or use peer(…).session(…).");
    const { metadata, createdAt } = options;
    const [added] = await this.addAll([{ peer, text, metadata, createdAt }], options);
    return added as Message;
  }

  /** Add up to 100 messages at once. */
  async addAll(messages: readonly NewMessage[], options: CallOptions & { key?: string } = {}): Promise<Message[]> {
    const key = options.key ?? crypto.randomUUID();
    const said = messages.map(({ peer, text, metadata, createdAt }) => {
      return { content: text, peer_id: peer, metadata, created_at: createdAt?.toISOString() };
    });
    const added = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/sessions/{session_id}/messages",
      {
        names: this.#names,
        header: { "idempotency-key": key },
        body: { messages: said, namespace: this.namespace },
        repeatable: true,
      },
      options,
    );
    return added.map(messageOf);
  }

  /** Iterate over all messages, oldest first. */
  async *messages(options: CallOptions = {}): AsyncGenerator<Message, void, undefined> {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const found = await this.connection.ask(
        "post",
        "/v3/workspaces/{workspace_id}/sessions/{session_id}/messages/list",
        { names: this.#names, query: { page, size: PAGE }, body: {}, repeatable: true },
        options,
      );
      yield* found.items.map(messageOf);
      pages = found.pages;
    }
  }

  /** Return the messages that answer `query` best. */
  async search(query: string, options: SearchOptions = {}): Promise<Message[]> {
    const found = await this.connection.ask(
      "post",
      "/v3/workspaces/{workspace_id}/sessions/{session_id}/search",
      { names: this.#names, body: { query, limit: options.limit }, repeatable: true },
      options,
    );
    return found.map(messageOf);
  }

  /**
   * Return what a model should be shown: the summary, the newest messages, and what is known of the peer.
   * `tokens` is how much of it fits.
   */
  async context(query?: string, options: CallOptions & { tokens?: number } = {}): Promise<Context> {
    const about = this.peer === undefined ? {} : { peer_target: this.peer, search_query: query };
    const found = await this.connection.ask(
      "get",
      "/v3/workspaces/{workspace_id}/sessions/{session_id}/context",
      { names: this.#names, query: { tokens: options.tokens, ...about }, repeatable: true },
      options,
    );
    return contextOfSession(found);
  }

  /** Answer a question from what was said in this session, as `Peer.chat` does. */
  async chat(question: string, options: ChatOptions = {}): Promise<string | null> {
    const answer = await this.connection.ask(
      "post",
      this.peer === undefined
        ? "/v3/workspaces/{workspace_id}/chat"
        : "/v3/workspaces/{workspace_id}/peers/{peer_id}/chat",
      {
        names: { peer_id: this.peer ?? "" },
        body: { query: question, session_id: this.name, reasoning_level: options.level },
        repeatable: true,
      },
      options,
    );
    return answer.content;
  }

  /** Erase a message for good. */
  async forget(id: string, options: CallOptions = {}): Promise<void> {
    await this.connection.ask(
      "delete",
      "/v3/workspaces/{workspace_id}/sessions/{session_id}/messages/{message_id}",
      { names: { ...this.#names, message_id: id }, repeatable: false },
      options,
    );
  }

  /** Delete the session and its messages for good. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.connection.ask(
      "delete",
      "/v3/workspaces/{workspace_id}/sessions/{session_id}",
      { names: this.#names, repeatable: false },
      options,
    );
  }

  get #names(): { session_id: string } {
    return { session_id: this.name };
  }
}
