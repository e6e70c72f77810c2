/** Fields by names that other libraries give them: in lower case, without separators and plural. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amount: "value",
    api: "apiId",
    apikey: "key",
    credit: "remaining",
    customer: "externalId",
    customerid: "externalId",
    env: "environment",
    event: "types",
    expiration: "expires",
    expiresat: "expires",
    expiry: "expires",
    from: "start",
    grace: "graceMs",
    graceperiod: "graceMs",
    ip: "ipAddress",
    ipallowlist: "ipWhitelist",
    max: "limit",
    metadata: "meta",
    owner: "externalId",
    ownerid: "externalId",
    scope: "permissions",
    secret: "key",
    since: "start",
    storage: "store",
    to: "end",
    until: "end",
    use: "remaining",
    user: "externalId",
    userid: "externalId",
    window: "duration",
    workspace: "workspaceId",
  }),
);

/**
 * Which of these names somebody meant who wrote another one: it differs only in case, in separators or in its plural, or other libraries
 * call it so.
 *
 * @returns Null if none of them, or more than one, could be meant.
 */
export function nameMeant(given: string, known: readonly string[]): string | null {
  const bare = bareName(given);
  const single = singular(bare);
  return (
    onlyOne(known.filter((name) => bareName(name) === bare)) ??
    onlyOne(known.filter((name) => singular(bareName(name)) === single)) ??
    onlyOne(known.filter((name) => name === OTHER_NAMES.get(single)))
  );
}

/** The {@link useHint} of a message about an unknown name. */
export function meantHint(given: string, known: Iterable<string>): string {
  return useHint(nameMeant(given, [...known]));
}

/** The end of a message that names what was meant; empty if that is not known. */
export function useHint(meant: string | null): string {
  return meant === null ? "" : `: use "${meant}"`;
}

function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

function singular(name: string): string {
  return name.endsWith("s") ? name.slice(0, -1) : name;
}

function onlyOne(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] as string) : null;
}
