import type { JsonSchemaValidator } from '@modelcontextprotocol/client';

/**
 * Replaces the platform module of the SDK's client in the bundle. The SDK's own has a JSON Schema validator that would
 * be a quarter of the bundle and would compile schemas to code. It is never used, because results are shown and never
 * checked.
 */
export class DefaultJsonSchemaValidator {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  }
}

/** In Node there are no cross-origin rules. */
export const CORS_IS_POSSIBLE = false;
