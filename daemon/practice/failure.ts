/** An answer that is an error: `{"error": message}` with a status, or an error line if a stream has begun. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Fields before `error`. Errors of remote models have such fields. */
    readonly before: Readonly<Record<string, unknown>> = {},
    readonly after: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  get body(): object {
    return { ...this.before, error: this.message, ...this.after };
  }
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, message);
}

export function modelNotFound(name: string): ApiFailure {
  return new ApiFailure(404, `model '${name}' not found`);
}

/** Go's `%q`. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
