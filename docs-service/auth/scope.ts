/** What a token allows. `read` and `draft` are this service's, the other two IndieAuth's. */
export const scopes = ['read', 'draft', 'profile', 'email'] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}
