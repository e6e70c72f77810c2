const NOTES: Readonly<Record<string, string>> = {
  service: "Whether the service is running.",
  apis: "Key spaces.",
  keys: "Issue, verify and change keys.",
  identities: "The users that keys belong to.",
  permissions: "Permissions of keys, and roles that bundle them.",
  ratelimit: "Limits that belong to no key.",
  ratelimits: "Limits that belong to no key.",
  migrations: "Keys that were issued elsewhere.",
  rootKeys: "Keys that authorise management.",
  audit: "Who changed what.",
  usage: "Usage for billing.",
  events: "What happened, in order.",
  jwks: "Public keys to verify tokens with.",
};

/** The family of an operation: the part of its name before the dot. */
export function familyOf(name: string): string {
  return name.includes(".") ? name.slice(0, name.indexOf(".")) : "service";
}

/** The families of these operations, in the order of their first operations. */
export function tagsOf(names: readonly string[]) {
  return [...new Set(names.map(familyOf))].map((name) => {
    const description = NOTES[name];
    return description === undefined ? { name } : { name, description };
  });
}
