/**
 * Stands in the bundle for what the SDK's client has for each platform: without it, a validator of JSON schemas that is
 * never asked, since what tools give back is not checked, would be a quarter of it.
 */
export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}

/** In Node there are no cross-origin rules. */
export const CORS_IS_POSSIBLE = false;
