import type { PermissionQuery } from "@latchkey/core";

/** A scope as RFC 6749 writes it: printable ASCII without space, `"` and `\`. */
const SCOPE = /^[!#-[\]-~]+$/;

/**
 * The value of `WWW-Authenticate`. At least one parameter must follow the scheme, so the realm is always there.
 *
 * @param error - Null if no key was presented: the challenge then has no error.
 * @param missing - The missing permissions. They become scopes if a single list can express them.
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
export function writeChallenge(
  error: string | null,
  detail: string,
  missing: PermissionQuery | undefined,
): string {
  let challenge = 'Bearer realm="api"';
  if (error !== null) challenge += `, error="${error}", error_description="${detail}"`;
  const scopes = missing === undefined ? null : scopesOf(missing);
  return scopes === null ? challenge : `${challenge}, scope="${scopes.join(" ")}"`;
}

/** The names, if all of them are missing; null if one of several would do, or a name is not a valid scope. */
function scopesOf(missing: PermissionQuery): readonly string[] | null {
  if (typeof missing === "string") return SCOPE.test(missing) ? [missing] : null;
  if (!Object.hasOwn(missing, "and")) return null;
  const scopes = (missing as { readonly and: readonly PermissionQuery[] }).and.map(scopesOf);
  return scopes.includes(null) ? null : scopes.flatMap((names) => names ?? []);
}
