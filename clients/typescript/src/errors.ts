const MAY_WORK_LATER = [0, 408, 429, 502, 503, 504];

/** Whatever goes wrong. `message` says what, `hint` what to do. */
export class SouvenanceError extends Error {
  override readonly name = "SouvenanceError";
  /** How many milliseconds the server asked to be left alone, if it did. */
  retryAfterMs?: number;

  constructor(
    /** Stable, and the same for every way in: `namespace_denied`, `not_found`, `server_unreachable` … */
    readonly code: string,
    message: string,
    readonly hint: string,
    /** The status of the answer; 0 if there was none. */
    readonly status: number = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return MAY_WORK_LATER.includes(this.status);
  }
}

/** No answer of a Souvenance server came back. */
export function unreachable(message: string, status = 0, cause?: unknown): SouvenanceError {
  const hint = "Start it with 'souvenance serve', or correct the url.";
  return new SouvenanceError("server_unreachable", message, hint, status, { cause });
}

/** Said before anything is sent. */
export function invalidInput(message: string, hint: string): SouvenanceError {
  return new SouvenanceError("invalid_input", message, hint, 400);
}
