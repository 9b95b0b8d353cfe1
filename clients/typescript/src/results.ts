import type { components } from "./api.js";

type Schemas = components["schemas"];

/** A line of memory. */
export interface Line {
  id: string;
  /** Empty if the token may list lines and not read them. */
  text: string;
  namespace: string;
  kind: string;
  createdAt: Date;
  /** When it happened, if that is not when it was stored. */
  occurredAt: Date | null;
  /** When it is over: from then on nobody is shown it, and it is removed. */
  expiresAt: Date | null;
  /** How well it answers the question; null if there was no question. */
  score: number | null;
  /** False for a line that `get` returned only because it is new. */
  matched: boolean;
  /** `said`, `quoted` or `suspect`: whose word it is, and whether it reads like an order to a model. */
  trust: string;
  /** Only `line` returns it. */
  metadata: Record<string, unknown> | null;
  /** The id of the line that this one corrects. */
  replaces: string | null;
  /** The id of the line that corrects this one. */
  replacedBy: string | null;
  /** The conversation that it was put in. */
  session: string | null;
}

/** What `forget` erased, or would erase. */
export interface Forgotten {
  lines: number;
  namespaces: string[];
  /** Whether the bytes are gone from the disk. If not, they go once no other process uses the store. */
  scrubbed: boolean;
  /** Signed proof of what was erased. Empty for a dry run. */
  receipt: string;
}

/** A message of a session. */
export interface Message {
  id: string;
  text: string;
  /** Who said it. */
  peer: string;
  session: string;
  createdAt: Date;
  metadata: Record<string, unknown>;
}

/** A fact about a peer. */
export interface Conclusion {
  id: string;
  text: string;
  /** Who knows it. */
  observer: string;
  /** The peer that it is about. */
  about: string;
  /** How it was found: `explicit` if it was said, `deductive` or `inductive` if it was reasoned. */
  level: string;
  session: string | null;
  createdAt: Date;
}

/** What a model should be shown before it answers. */
export interface Context {
  /** What is known of the peer, as text for a prompt. */
  representation: string;
  /** The most important facts about the peer. */
  card: string[];
  /** The session so far, before `messages`. Empty for a short session. */
  summary: string;
  /** The newest messages of the session, oldest first. */
  messages: Message[];
}

type FoundLine = Schemas["RecalledLine"] | Schemas["ListedLine"] | Schemas["LineAnswer"];

export function lineOf(found: FoundLine): Line {
  return {
    id: found.id,
    text: found.text ?? "",
    namespace: found.namespace,
    kind: found.kind,
    createdAt: new Date(found.created_at),
    occurredAt: dateOf(found.occurred_at),
    expiresAt: dateOf(found.expires_at),
    score: "score" in found ? found.score : null,
    matched: "matched" in found ? found.matched : true,
    trust: found.trust ?? "",
    metadata: "metadata" in found ? found.metadata : null,
    replaces: "supersedes" in found ? found.supersedes : null,
    replacedBy: "invalidated_by" in found ? found.invalidated_by : null,
    session: found.session ?? null,
  };
}

export function forgottenOf(found: Schemas["ForgetAnswer"]): Forgotten {
  const { lines, namespaces, scrubbed, receipt = "" } = found;
  return { lines, namespaces, scrubbed, receipt };
}

export function messageOf(found: Schemas["MessageAnswer"]): Message {
  return {
    id: found.id,
    text: found.content,
    peer: found.peer_id,
    session: found.session_id,
    createdAt: new Date(found.created_at),
    metadata: found.metadata,
  };
}

export type ConclusionAnswer = Schemas["ConclusionAnswer"];

export function conclusionOf(found: ConclusionAnswer): Conclusion {
  return {
    id: found.id,
    text: found.content,
    observer: found.observer_id,
    about: found.observed_id,
    level: found.level ?? "explicit",
    session: found.session_id ?? null,
    createdAt: new Date(found.created_at),
  };
}

export function contextOfPeer(found: Schemas["PeerContextAnswer"]): Context {
  return { representation: found.representation ?? "", card: found.peer_card ?? [], summary: "", messages: [] };
}

export function contextOfSession(found: Schemas["SessionContextAnswer"]): Context {
  return {
    representation: found.peer_representation ?? "",
    card: found.peer_card ?? [],
    summary: found.summary?.content ?? "",
    messages: found.messages.map(messageOf),
  };
}

function dateOf(time: string | null | undefined): Date | null {
  return time ? new Date(time) : null;
}
