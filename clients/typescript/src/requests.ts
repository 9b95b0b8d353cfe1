import type { paths } from "./api.js";
import { invalidInput, SouvenanceError, unreachable } from "./errors.js";

/** What every call takes besides. */
export interface CallOptions {
  /** Ends the call early. It then throws the signal's reason. */
  signal?: AbortSignal;
  /** How many milliseconds the server has to answer, retries included. */
  timeoutMs?: number;
}

export interface ServerOptions {
  /** The address of the server, such as `http://127.0.0.1:8787`. */
  url: string;
  /** A capability token. `souvenance cap mint` makes one. */
  token: string;
  /** How many milliseconds the server has to answer, unless a call says otherwise. 60000 by default. */
  timeoutMs?: number;
  /** What is used instead of the global `fetch`. */
  fetch?: typeof fetch;
}

export type Method = "get" | "post" | "put" | "delete";
export type Operation<P extends keyof paths, M> = M extends keyof paths[P] ? paths[P][M] : never;
type BodyOf<O> = O extends { requestBody?: { content: { "application/json": infer B } } } ? B : never;
type QueryOf<O> = O extends { parameters: { query?: infer Q extends object } } ? Q : never;
type HeaderOf<O> = O extends { parameters: { header?: infer H extends object } } ? H : never;
type JsonOf<R> = R extends { content: { "application/json": infer A } } ? A : undefined;
export type AnswerOf<O> = O extends { responses: infer R } ? JsonOf<R[keyof R]> : never;

/** What is asked of one route, in the words of the server's OpenAPI description. */
export interface Asked<O> {
  /** What stands for the names in the path. */
  names?: Record<string, string>;
  query?: QueryOf<O>;
  header?: HeaderOf<O>;
  body?: BodyOf<O>;
  /** Whether the request may be sent again when nobody knows if it was done. */
  repeatable: boolean;
}

const TIMEOUT_MS = 60_000;
const MOST_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;

/** A server, and the token that it is asked with. */
export class Server {
  constructor(private readonly options: ServerOptions) {}

  /** The same server, asked with another token. */
  with(token: string): Server {
    return new Server({ ...this.options, token });
  }

  /** The server's answer. A request that was refused for now, or lost, is sent again if that is safe. */
  async ask<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    asked: Asked<Operation<P, M>>,
    { signal, timeoutMs = this.options.timeoutMs ?? TIMEOUT_MS }: CallOptions = {},
  ): Promise<AnswerOf<Operation<P, M>>> {
    const request = this.#request(method, path, asked);
    const late = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([signal, late]) : late;
    const end = Date.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#send(request, ended);
      } catch (error) {
        signal?.throwIfAborted();
        const failure = late.aborted ? unreachable(`no answer within ${timeoutMs} ms`, 0, error) : failureOf(error);
        const refused = failure.status === 429; // Then nothing was done.
        const again = attempt + 1 < MOST_ATTEMPTS && (refused || (asked.repeatable && failure.retryable));
        const wait = failure.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** attempt * (1 + Math.random());
        if (!again || Date.now() + wait >= end) throw failure;
        await pause(wait, ended);
      }
    }
  }

  #request(method: string, path: string, { names, query, header, body }: Asked<any>): [string, RequestInit] {
    const { url, token } = this.options;
    const json = { accept: "application/json", "content-type": "application/json" };
    return [
      url.replace(/\/+$/, "") + addressOf(path, names, query),
      {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${token}`, ...json, ...header },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: "manual", // Another address must not be given the token.
      },
    ];
  }

  async #send([address, request]: [string, RequestInit], signal: AbortSignal): Promise<any> {
    const { fetch = globalThis.fetch } = this.options;
    const response = await fetch(address, { ...request, signal });
    const text = await response.text();
    if (!response.ok) throw refusalOf(response, text);
    return text ? JSON.parse(text) : undefined;
  }
}

function addressOf(path: string, names: Record<string, string> = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => segmentOf(field, names[field] ?? ""));
  const asked = Object.entries(query).filter(([, value]) => value !== undefined);
  return `${filled}?${new URLSearchParams(asked.map(([name, value]) => [name, String(value)]))}`.replace(/\?$/, "");
}

/** A name in a path. One that would lead to another path is refused. */
function segmentOf(field: string, name: string): string {
  if (["", ".", ".."].includes(name) || name.includes("/"))
    throw invalidInput(`${field} can't be "${name}"`, "Use letters, digits, '-' and '_'.");
  return encodeURIComponent(name);
}

function refusalOf(response: Response, text: string): SouvenanceError {
  const { status } = response;
  const told = jsonOf(text);
  if (typeof told?.error !== "string")
    return unreachable(`the server answered ${status}, and not as Souvenance does`, status);
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  const error = new SouvenanceError(told.error, messageOf(told.detail), String(told.hint ?? ""), status);
  if (Number.isFinite(seconds)) error.retryAfterMs = seconds * 1000;
  return error;
}

function messageOf(detail: unknown): string {
  return typeof detail === "string" ? detail : JSON.stringify(detail);
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What `fetch` throws tells the reason in its cause, if at all. */
function failureOf(error: unknown): SouvenanceError {
  if (error instanceof SouvenanceError) return error;
  const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : error;
  return unreachable(`no answer from the server: ${reason}`, 0, error);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
