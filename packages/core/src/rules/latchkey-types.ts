import type { InputOf, OutputOf, StandardSchema } from "../lib/standard-schema.js";
import type { Metadata } from "./metadata.js";
import type { DEFAULT_LIMIT } from "./rate-limit.js";

/** The names and the metadata that a program declared to `createLatchkey`. Types only: nothing of it exists at run time. */
export interface LatchkeyTypes {
  /** Names of permissions. */
  readonly permission: string;
  /** Names of permissions that keys can have, including wildcards. */
  readonly heldPermission: string;
  /** Names of rate limits. */
  readonly ratelimit: string;
  /** Metadata of a key as it is read. */
  readonly meta: object;
  /** Metadata of a key as it is given. */
  readonly metaInput: object;
  /** Metadata of an identity as it is read: `{}` if none. */
  readonly identityMeta: object;
  /** Metadata of an identity as it is given: `{}` for none. */
  readonly identityMetaInput: object;
}

/** What a latchkey says about its {@link LatchkeyTypes}. */
export interface DeclaresTypes<Types extends LatchkeyTypes = LatchkeyTypes> {
  /** Never present: it carries the types of this latchkey, for guards and `InputOf`. */
  readonly "~types"?: Types;
}

/** The {@link LatchkeyTypes} of a program that declared nothing: names are any text, metadata is any JSON object. */
export interface DefaultTypes extends LatchkeyTypes {
  readonly meta: Metadata;
  readonly metaInput: MetadataInput;
  readonly identityMeta: Metadata;
  readonly identityMetaInput: MetadataInput;
}

/** Metadata as input: a JSON object of at most 16 KiB and 16 levels. */
export type MetadataInput = Readonly<Record<string, unknown>>;

/** A schema of metadata, from objects to objects. */
export type MetaSchema = StandardSchema<object, object>;

/** The {@link LatchkeyTypes} that follow from the options of `createLatchkey`. */
export interface TypesOf<
  Permission extends string,
  Ratelimit extends string,
  Meta extends MetaSchema | undefined,
  IdentityMeta extends MetaSchema | undefined,
> extends LatchkeyTypes {
  readonly permission: Permission;
  readonly heldPermission: NameOrWildcard<Permission>;
  readonly ratelimit: Ratelimit;
  readonly meta: [Meta] extends [MetaSchema] ? StoredMeta<OutputOf<Meta>> : Metadata;
  readonly metaInput: [Meta] extends [MetaSchema] ? Given<InputOf<Meta>> : MetadataInput;
  readonly identityMeta: [IdentityMeta] extends [MetaSchema]
    ? Partial<StoredMeta<OutputOf<IdentityMeta>>>
    : Metadata;
  readonly identityMetaInput: [IdentityMeta] extends [MetaSchema]
    ? Given<InputOf<IdentityMeta>> | Record<string, never>
    : MetadataInput;
}

/** Stored metadata: frozen JSON, without undefined. */
type StoredMeta<Value extends object> = {
  readonly [Member in keyof Value]: Stored<Exclude<Value[Member], undefined>>;
};

type Stored<Value> = Value extends object ? StoredMeta<Value> : Value;

/** The same shape as an anonymous type, which is assignable to an index signature. */
type Given<Value extends object> = { readonly [Member in keyof Value]: Value[Member] };

/** A permission that a key can have: a declared name, or a wildcard for some of them. */
export type PermissionName<Types extends LatchkeyTypes = DefaultTypes> = Types["heldPermission"];

type NameOrWildcard<Name extends string> = string extends Name
  ? string
  : Name | "*" | WildcardOf<Name>;

/** `docs.*` and `docs.drafts.*` of `docs.drafts.read`. */
type WildcardOf<Name extends string> = Name extends `${infer Head}.${infer Rest}`
  ? `${Head}.*` | `${Head}.${WildcardOf<Rest>}`
  : never;

/** Name of a limit: a declared one, or `default`. */
export type LimitName<Types extends LatchkeyTypes = DefaultTypes> =
  | Types["ratelimit"]
  | typeof DEFAULT_LIMIT;
