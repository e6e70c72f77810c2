import type { GrantReference, MissingGrants, PermissionRecord, RoleRecord } from "@latchkey/core";
import type { OnDemand } from "./on-demand.js";

/** A table of roles or of permissions, as references are looked up in it. */
export interface GrantTable<Definition> {
  /** Row number of the live one with this id, or null. */
  readonly seqOfId: (workspaceId: string, id: string) => number | null;
  /** Row number of the live one with this name, or null. */
  readonly seqOfName: (workspaceId: string, name: string) => number | null;
  /** Writes one and answers its row number. */
  readonly add: (definition: Definition) => number;
}

/**
 * The references of one step to one table. Each is looked up once, and what several of them would make is made once.
 * To be used inside a write transaction: first every list is expected, then each of them is resolved.
 */
export class GrantReferences<Definition extends RoleRecord | PermissionRecord> {
  readonly #table: GrantTable<Definition>;
  readonly #workspaceId: string;
  readonly #byId = new Map<string, number>();
  readonly #byName = new Map<string, number>();
  readonly #toCreate = new Map<string, Definition>();
  readonly #missing = new Set<string>();

  constructor(table: GrantTable<Definition>, workspaceId: string) {
    this.#table = table;
    this.#workspaceId = workspaceId;
  }

  /** Names and ids that nothing goes by and that may not be created, each once. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** Looks references up. Nothing is written. */
  expect(references: readonly GrantReference<Definition>[]): void {
    for (const reference of references) {
      if (reference.kind === "id") this.#expectId(reference.id);
      else this.#expectName(reference.name, reference.orCreate);
    }
  }

  /** Row numbers of references that were expected, each once. Writes those that did not exist yet. */
  resolve(
    references: readonly GrantReference<Definition>[],
    onDemand: OnDemand,
  ): ReadonlySet<number> {
    const seqs = new Set<number>();
    for (const reference of references) {
      const seq =
        reference.kind === "id"
          ? this.#byId.get(reference.id)
          : (this.#byName.get(reference.name) ?? this.#create(reference.name, onDemand));
      if (seq !== undefined) seqs.add(seq);
    }
    return seqs;
  }

  #expectId(id: string): void {
    if (this.#byId.has(id)) return;
    const seq = this.#table.seqOfId(this.#workspaceId, id);
    if (seq === null) this.#missing.add(id);
    else this.#byId.set(id, seq);
  }

  #expectName(name: string, orCreate: Definition | null): void {
    if (this.#byName.has(name)) return;
    const seq = this.#table.seqOfName(this.#workspaceId, name);
    if (seq !== null) this.#byName.set(name, seq);
    else if (orCreate === null) this.#missing.add(name);
    else if (!this.#toCreate.has(name)) this.#toCreate.set(name, orCreate);
  }

  #create(name: string, onDemand: OnDemand): number | undefined {
    const definition = this.#toCreate.get(name);
    if (definition === undefined) return undefined;
    const seq = this.#table.add(definition);
    this.#byName.set(name, seq);
    onDemand.created.push(definition.id);
    return seq;
  }
}

/** The refusal for what is missing, or null where nothing is. */
export function missingGrants(
  roles: readonly string[],
  permissions: readonly string[],
): MissingGrants | null {
  if (roles.length === 0 && permissions.length === 0) return null;
  return { kind: "missing-grants", roles, permissions };
}
