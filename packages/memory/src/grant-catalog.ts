import type { GrantReference, NamedGrant } from "@latchkey/core";

/** A role or permission as it is stored. */
export interface StoredGrant {
  readonly named: NamedGrant;
  /** Those that hold it are not told when it is deleted: each of them finds it dead. */
  isLive: boolean;
}

/** Roles or permissions of one workspace, found by id and by name. */
export class GrantCatalog<Item extends StoredGrant, Definition> {
  readonly #byId = new Map<string, Item>();
  readonly #byName = new Map<string, Item>();
  readonly #create: (definition: Definition) => Item;

  /** @param create - Makes what is stored of a definition; nothing is written by it. */
  constructor(create: (definition: Definition) => Item) {
    this.#create = create;
  }

  hasName(name: string): boolean {
    return this.#byName.has(name);
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** All of them, in ascending order of id. */
  list(): readonly Item[] {
    return [...this.#byId.values()].sort((one, other) => (one.named.id < other.named.id ? -1 : 1));
  }

  add(item: Item): void {
    this.#byId.set(item.named.id, item);
    this.#byName.set(item.named.name, item);
  }

  delete(item: Item): void {
    this.#byId.delete(item.named.id);
    this.#byName.delete(item.named.name);
    item.isLive = false;
  }

  /** Adds those names and ids to `missing` that nothing goes by and that may not be created. */
  addMissing(references: readonly GrantReference<Definition>[], missing: Set<string>): void {
    for (const reference of references) {
      const isNameToCreate = reference.kind === "name" && reference.orCreate !== null;
      if (isNameToCreate || this.#find(reference) !== undefined) continue;
      missing.add(reference.kind === "id" ? reference.id : reference.name);
    }
  }

  /**
   * What the references stand for, each once, when none is missing. A name that nothing goes by is created, and
   * its id is added to `created`.
   */
  findOrCreate(
    references: readonly GrantReference<Definition>[],
    created: string[],
  ): readonly Item[] {
    const items = new Set<Item>();
    for (const reference of references) {
      const known = this.#find(reference);
      if (known !== undefined) items.add(known);
      else if (reference.kind === "name" && reference.orCreate !== null) {
        const item = this.#create(reference.orCreate);
        this.add(item);
        created.push(item.named.id);
        items.add(item);
      }
    }
    return [...items];
  }

  #find(reference: GrantReference<Definition>): Item | undefined {
    return reference.kind === "id"
      ? this.#byId.get(reference.id)
      : this.#byName.get(reference.name);
  }
}
