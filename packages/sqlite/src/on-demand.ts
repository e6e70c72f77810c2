/** What one step made on demand, and what it linked instead of making it. */
export class OnDemand {
  /** Ids of the identities, roles and permissions that were made. */
  readonly created: string[] = [];
  readonly #linked = new Map<string, string>();

  hasCreated(id: string): boolean {
    return this.created.includes(id);
  }

  /** Says that an identity existed already, in place of a candidate that was to be made. */
  link(candidateId: string, existingId: string): void {
    this.#linked.set(candidateId, existingId);
  }

  /** The id of the identity that was linked in place of the given one, or the given one. */
  linkedInstead(identityId: string): string {
    return this.#linked.get(identityId) ?? identityId;
  }
}
