import { type CreatedKey, type Latchkey, LatchkeyError } from "@latchkey/core";
import { checkSeed } from "./check-seed.js";

type CreateApi = Parameters<Latchkey["createApi"]>[0];
type CreateIdentity = Parameters<Latchkey["createIdentity"]>[0];
type CreateKey = Parameters<Latchkey["createKey"]>[0];

/** An API: input of createApi. Default for its name: that in the seed. */
export type ApiSeed = Omit<CreateApi, "name"> & { readonly name?: string };

/** An identity: input of createIdentity. Its `externalId` is its name in the seed. */
export type IdentitySeed = Omit<CreateIdentity, "externalId">;

/** A key: input of createKey, with the API and the identity by their names in the seed. */
export type KeySeed<Api extends string, Identity extends string> = Omit<
  CreateKey,
  "apiId" | "externalId" | "ownerId"
> & { readonly api: Api; readonly identity?: Identity };

/** Records to create, each under a name. */
export interface Seed<Api extends string, Identity extends string, Key extends string> {
  readonly apis: Readonly<Record<Api, ApiSeed>>;
  readonly identities?: Readonly<Record<Identity, IdentitySeed>>;
  /** Roles by name, each with its permissions. */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  readonly keys?: Readonly<Record<Key, KeySeed<NoInfer<Api>, NoInfer<Identity>>>>;
}

/** Ids and secrets of seeded records, by their names in the seed. */
export interface Seeded<Api extends string, Identity extends string, Key extends string> {
  readonly apis: Readonly<Record<Api, { readonly apiId: string }>>;
  readonly identities: Readonly<Record<Identity, { readonly identityId: string }>>;
  readonly keys: Readonly<Record<Key, CreatedKey>>;
}

/**
 * Creates the records of a seed, and returns ids and secrets by their names. Permissions of roles and keys are created too. You can call it
 * again with other names.
 *
 * @throws TypeError for an unknown field or name: nothing is written then. LatchkeyError as the operations that create the records, naming
 * the part of the seed: the store is then closed, so that no test runs on half a seed.
 */
export type SeedFunction = <
  Api extends string,
  Identity extends string = never,
  Key extends string = never,
>(
  seed: Seed<Api, Identity, Key>,
) => Promise<Seeded<Api, Identity, Key>>;

/** Makes a {@link SeedFunction} that writes with a latchkey, one record after the other, so that each run creates the same ids. */
export function createSeed(latchkey: Latchkey): SeedFunction {
  return async (seed) => {
    checkSeed(seed);
    try {
      return await writeSeed(latchkey, seed);
    } catch (error) {
      await latchkey.close();
      throw error;
    }
  };
}

async function writeSeed<Api extends string, Identity extends string, Key extends string>(
  latchkey: Latchkey,
  {
    apis,
    identities = {} as Record<Identity, IdentitySeed>,
    roles = {},
    keys = {} as Record<Key, KeySeed<Api, Identity>>,
  }: Seed<Api, Identity, Key>,
): Promise<Seeded<Api, Identity, Key>> {
  await createPermissions(latchkey, "roles", roles);
  await createPermissions(latchkey, "keys", permissionsOf(keys));
  await createEach("roles", roles, (name, permissions) =>
    latchkey.createRole({ name, permissions: [...permissions] }),
  );
  const seededApis = await createEach<Api, ApiSeed, { apiId: string }>(
    "apis",
    apis,
    (name, fields) => latchkey.createApi({ name, ...fields }),
  );
  const seededIdentities = await createEach<Identity, IdentitySeed, { identityId: string }>(
    "identities",
    identities,
    (externalId, fields) => latchkey.createIdentity({ externalId, ...fields }),
  );
  const seededKeys = await createEach<Key, KeySeed<Api, Identity>, CreatedKey>(
    "keys",
    keys,
    (_, { api, identity, ...fields }) => {
      const { apiId } = seededApis[api];
      const owner = identity === undefined ? {} : { externalId: identity };
      return latchkey.createKey({ ...fields, ...owner, apiId });
    },
  );
  return { apis: seededApis, identities: seededIdentities, keys: seededKeys };
}

async function createEach<Name extends string, Fields, Created>(
  part: string,
  seeds: Readonly<Record<Name, Fields>>,
  create: (name: Name, fields: Fields) => Promise<Created>,
): Promise<Record<Name, Created>> {
  const created = {} as Record<Name, Created>;
  for (const [name, fields] of Object.entries(seeds) as [Name, Fields][])
    created[name] = await namingPart(`${part}.${name}`, () => create(name, fields));
  return created;
}

function permissionsOf(
  keys: Readonly<Record<string, KeySeed<string, string>>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, { permissions }]) => [name, permissions ?? []]),
  );
}

/** Creates the permissions that do not exist yet. */
async function createPermissions(
  latchkey: Latchkey,
  part: string,
  wanted: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const known = new Set((await latchkey.listPermissions()).map(({ name }) => name));
  for (const [owner, names] of Object.entries(wanted))
    for (const name of names) {
      if (known.has(name)) continue;
      await namingPart(`${part}.${owner}`, () => latchkey.createPermission({ name }));
      known.add(name);
    }
}

/** Writes a part of a seed. @throws LatchkeyError as the operation does, with the part in its message. */
async function namingPart<Created>(part: string, create: () => Promise<Created>): Promise<Created> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
    const { code, message, issues, reason, details } = error;
    throw new LatchkeyError(code, `the seed's ${part}: ${message}; the store is closed`, {
      issues,
      details,
      cause: error,
      ...(reason !== undefined && { reason }),
    });
  }
}
