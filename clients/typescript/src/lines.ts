import type { components, paths } from "./api.js";
import type { Connection } from "./connection.js";
import type { AnswerOf, Asked, CallOptions, Method, Operation } from "./requests.js";
import { type Forgotten, forgottenOf, type Line, lineOf } from "./results.js";

type ListAnswer = components["schemas"]["ListAnswer"];

const PAGE = 100;

export interface PutOptions extends CallOptions {
  /** `personal` by default. */
  namespace?: string;
  /** `memory` by default. */
  kind?: string;
  session?: string;
  /** Stored unencrypted. */
  metadata?: Record<string, unknown>;
  occurredAt?: Date;
  /** From then on nobody is shown the line any more, and it is removed. */
  expiresAt?: Date;
  /** A ULID of your own. The same line is then stored once, so the call is repeated if its answer is lost. */
  id?: string;
}

export interface NamespacesOptions extends CallOptions {
  /** All that the token opens by default. */
  namespaces?: string | readonly string[];
}

export interface GetOptions extends NamespacesOptions {
  /** 20 at most, 5 by default. */
  limit?: number;
  /** Only lines that were stored then or later. */
  since?: Date;
  /** Only lines that were stored before. */
  until?: Date;
  /** When the question is asked, if not now: it decides which week "last week" is. */
  at?: Date;
  /** Hides weak matches, which may leave nothing. */
  floor?: boolean;
}

export interface ListOptions extends NamespacesOptions {
  since?: Date;
  /** Corrected lines too. */
  history?: boolean;
}

/** Exactly one of them is erased. */
export type Forgettable =
  | { id: string; namespace?: never; owner?: never }
  | { namespace: string; id?: never; owner?: never }
  | { owner: string; id?: never; namespace?: never };

/** What a memory and a peer do with the lines of one owner. */
export class LineMethods {
  constructor(
    protected readonly connection: Connection,
    private readonly owner?: string,
  ) {}

  /** Store a line, and return its id. */
  async put(text: string, options: PutOptions = {}): Promise<string> {
    const { namespace, kind, session, metadata, id } = options;
    const times = { occurred_at: options.occurredAt?.toISOString(), expires_at: options.expiresAt?.toISOString() };
    const body = { text, namespace, kind, session, metadata, id, ...times };
    return (await this.#ask("post", "/v1/memory/put", { body, repeatable: id !== undefined }, options)).id;
  }

  /**
   * Return the lines that answer `query` best, best first; without a query, the newest.
   *
   * If nothing matches you get the newest lines, with `matched` false.
   */
  async get(query?: string, options: GetOptions = {}): Promise<Line[]> {
    const { limit: k, floor } = options;
    const [since, until, at] = [options.since, options.until, options.at].map((time) => time?.toISOString());
    const body = { query, namespaces: namesOf(options.namespaces), k, floor, since, until, at };
    return (await this.#ask("post", "/v1/memory/get", { body, repeatable: true }, options)).lines.map(lineOf);
  }

  /** Return one line, also one that was corrected. */
  async line(id: string, options: CallOptions = {}): Promise<Line> {
    return lineOf(await this.#ask("get", "/v1/memory/lines/{id}", { names: { id }, repeatable: true }, options));
  }

  /** Iterate over all lines, oldest first. They are read in pages, as you go on. */
  async *list(options: ListOptions = {}): AsyncGenerator<Line, void, undefined> {
    const namespaces = namesOf(options.namespaces);
    const since = options.since?.toISOString();
    const texts = await this.connection.grants("get", options);
    let cursor: string | null = null;
    do {
      const body = { namespaces, since, history: options.history, texts, cursor, limit: PAGE };
      const page: ListAnswer = await this.#ask("post", "/v1/memory/list", { body, repeatable: true }, options);
      yield* page.lines.map(lineOf);
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /** Return the names of the namespaces that have lines, as far as the token opens them. */
  async namespaces(options: CallOptions = {}): Promise<string[]> {
    const status = await this.#ask("get", "/v1/status", { repeatable: true }, options);
    const filled = status.namespaces.filter((one) => one.lines > 0);
    return filled.map((one) => one.namespace).sort();
  }

  /** Return a short profile that fits into a system prompt. */
  async snapshot(options: NamespacesOptions = {}): Promise<string> {
    const body = { namespaces: namesOf(options.namespaces) };
    return (await this.#ask("post", "/v1/memory/snapshot", { body, repeatable: true }, options)).profile;
  }

  /**
   * Replace a line with `text`, and return the id of the new line.
   *
   * Without a text, the line is marked as no longer true. It stays in the history.
   */
  async correct(id: string, text?: string, options: CallOptions = {}): Promise<string> {
    return (await this.#ask("post", "/v1/memory/invalidate", { body: { id, text }, repeatable: false }, options)).id;
  }

  /**
   * Erase a line, by its id, or a namespace, or everything of an owner, for good.
   *
   * A dry run erases nothing, and says what would go.
   */
  async forget(what: string | Forgettable, options: CallOptions & { dryRun?: boolean } = {}): Promise<Forgotten> {
    const which = typeof what === "string" ? { id: what } : what;
    const body = { ...which, dry_run: options.dryRun };
    return forgottenOf(await this.#ask("post", "/v1/memory/forget", { body, repeatable: false }, options));
  }

  async #ask<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    asked: Asked<Operation<P, M>>,
    options: CallOptions,
  ): Promise<AnswerOf<Operation<P, M>>> {
    return (await this.connection.of(this.owner, options)).ask(method, path, asked, options);
  }
}

export function namesOf(given: string | readonly string[] | undefined): string[] | undefined {
  return typeof given === "string" ? [given] : given && [...given];
}
