import { refuseNoObject, refuseUnknownFields } from "./known-fields.js";

/** The parts of a seed. */
const PARTS = ["apis", "identities", "roles", "keys"];

/** Fields that the seed itself fills in, and where their values come from. */
const GIVEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  identities: { externalId: "its name in the seed" },
  keys: { apiId: '"api"', externalId: '"identity"', ownerId: '"identity"' },
};

/**
 * Checks what plain JavaScript lets through, before any part of a seed is written.
 *
 * @throws TypeError naming the wrong part and the possible names.
 */
export function checkSeed(seed: unknown): void {
  refuseNoObject(seed, "seed");
  refuseUnknownFields(seed, PARTS, "a part of a seed");
  const { apis, identities = {}, roles = {}, keys = {} } = seed as Record<string, unknown>;
  refuseNoObject(apis, "apis");
  for (const [part, entries] of Object.entries({ apis, identities, keys })) {
    refuseNoObject(entries, part);
    for (const [name, fields] of Object.entries(entries)) {
      refuseNoObject(fields, `${part}.${name}`);
      refuseGiven(part, name, fields);
    }
  }
  refuseNoObject(roles, "roles");
  for (const [name, permissions] of Object.entries(roles))
    refuseNoList(permissions, `roles.${name}`);
  for (const [name, { api, identity, permissions }] of Object.entries(
    keys as Record<string, Record<string, unknown>>,
  )) {
    refuseNoName(api, apis, `keys.${name}.api`);
    if (identity !== undefined)
      refuseNoName(identity, identities as object, `keys.${name}.identity`);
    if (permissions !== undefined) refuseNoList(permissions, `keys.${name}.permissions`);
  }
}

function refuseGiven(part: string, name: string, fields: object): void {
  for (const [field, by] of Object.entries(GIVEN[part] ?? {}))
    if (field in fields) throw new TypeError(`"${part}.${name}.${field}" is given by ${by}`);
}

function refuseNoList(value: unknown, path: string): void {
  if (!Array.isArray(value)) throw new TypeError(`"${path}" must be a list of names`);
}

function refuseNoName(name: unknown, known: object, path: string): void {
  if (typeof name === "string" && Object.hasOwn(known, name)) return;
  const names = Object.keys(known).join(", ") || "there is none";
  throw new TypeError(`"${path}" must be a name in the same seed: ${names}`);
}
