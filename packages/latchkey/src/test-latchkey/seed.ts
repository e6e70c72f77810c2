import type { CreatedKey, Latchkey } from "@latchkey/core";

type CreateApi = Parameters<Latchkey["createApi"]>[0];
type CreateIdentity = Parameters<Latchkey["createIdentity"]>[0];
type CreateKey = Parameters<Latchkey["createKey"]>[0];

/** An API: what createApi takes. Its name is that in the seed unless given. */
export type ApiSeed = Omit<CreateApi, "name"> & { readonly name?: string };

/** An identity: what createIdentity takes. Its `externalId` is its name in the seed. */
export type IdentitySeed = Omit<CreateIdentity, "externalId">;

/** A key: what createKey takes, with the API and the identity by their names in the seed. */
export type KeySeed<Api extends string, Identity extends string> = Omit<
  CreateKey,
  "apiId" | "externalId" | "ownerId"
> & { readonly api: Api; readonly identity?: Identity };

/** What a test finds in the store, each by a name of its own. */
export interface Seed<Api extends string, Identity extends string, Key extends string> {
  readonly apis: Readonly<Record<Api, ApiSeed>>;
  readonly identities?: Readonly<Record<Identity, IdentitySeed>>;
  /** Roles by name, each with its permissions. */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  readonly keys?: Readonly<Record<Key, KeySeed<NoInfer<Api>, NoInfer<Identity>>>>;
}

/** Ids and secrets of what was seeded, by the names in the seed. */
export interface Seeded<Api extends string, Identity extends string, Key extends string> {
  readonly apis: Readonly<Record<Api, { readonly apiId: string }>>;
  readonly identities: Readonly<Record<Identity, { readonly identityId: string }>>;
  readonly keys: Readonly<Record<Key, CreatedKey>>;
}

/**
 * Writes what a test needs into the store, and answers ids and secrets by the names of the seed. Permissions that roles and keys
 * name are created. It may be called again, with other names.
 *
 * @throws LatchkeyError as the operations do that create these things; TypeError for a name that the seed does not have.
 */
export type SeedFunction = <
  Api extends string,
  Identity extends string = never,
  Key extends string = never,
>(
  seed: Seed<Api, Identity, Key>,
) => Promise<Seeded<Api, Identity, Key>>;

/** Makes a {@link SeedFunction} that writes with a latchkey. One thing after the other: then each run makes the same ids. */
export function createSeed(latchkey: Latchkey): SeedFunction {
  return async <Api extends string, Identity extends string, Key extends string>({
    apis,
    identities = {} as Record<Identity, IdentitySeed>,
    roles = {},
    keys = {} as Record<Key, KeySeed<Api, Identity>>,
  }: Seed<Api, Identity, Key>): Promise<Seeded<Api, Identity, Key>> => {
    const keySeeds = Object.values<KeySeed<Api, Identity>>(keys);
    await createPermissions(latchkey, [
      ...Object.values(roles).flat(),
      ...keySeeds.flatMap(({ permissions = [] }) => permissions),
    ]);
    await createEach(roles, (name, permissions) =>
      latchkey.createRole({ name, permissions: [...permissions] }),
    );
    const seededApis = await createEach<Api, ApiSeed, { apiId: string }>(apis, (name, fields) =>
      latchkey.createApi({ name, ...fields }),
    );
    const seededIdentities = await createEach<Identity, IdentitySeed, { identityId: string }>(
      identities,
      (externalId, fields) => latchkey.createIdentity({ externalId, ...fields }),
    );
    const seededKeys = await createEach<Key, KeySeed<Api, Identity>, CreatedKey>(
      keys,
      (name, { api, identity, ...fields }) => {
        const { apiId } = named(seededApis, api, `keys.${name}.api`);
        if (identity === undefined) return latchkey.createKey({ ...fields, apiId });
        named(seededIdentities, identity, `keys.${name}.identity`);
        return latchkey.createKey({ ...fields, apiId, externalId: identity });
      },
    );
    return { apis: seededApis, identities: seededIdentities, keys: seededKeys };
  };
}

async function createEach<Name extends string, Fields, Created>(
  seeds: Readonly<Record<Name, Fields>>,
  create: (name: Name, fields: Fields) => Promise<Created>,
): Promise<Record<Name, Created>> {
  const created = {} as Record<Name, Created>;
  for (const [name, fields] of Object.entries(seeds) as [Name, Fields][])
    created[name] = await create(name, fields);
  return created;
}

async function createPermissions(latchkey: Latchkey, names: readonly string[]): Promise<void> {
  const known = new Set((await latchkey.listPermissions()).map(({ name }) => name));
  for (const name of new Set(names))
    if (!known.has(name)) await latchkey.createPermission({ name });
}

function named<Name extends string, Value>(
  values: Readonly<Record<Name, Value>>,
  name: Name,
  path: string,
): Value {
  if (Object.hasOwn(values, name)) return values[name];
  throw new TypeError(`"${path}" must be a name in the same seed`);
}
