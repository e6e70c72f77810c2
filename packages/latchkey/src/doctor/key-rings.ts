import {
  createSecretHasher,
  createVault,
  type LoadedRecord,
  pepperIdOf,
  type SecretHasher,
} from "@latchkey/core";
import { plural } from "../command-line/words.js";
import type { KeyRings } from "../key-rings-from-env.js";
import { type Finding, fine, wrong } from "./finding.js";

/** What one key of a ring was tried on. */
interface Trial {
  tried: number;
  failed: number;
  /** Id of the first key that does not fit. */
  firstFailed: string | null;
}

/** What a key's record says about the rings: how its hash was made, and what its secret is encrypted with. */
interface Stored {
  readonly hash: string;
  readonly start: string;
  readonly sealedSecret: string | null;
  readonly importMarks: readonly string[];
}

/** As much of a damaged record as can be read. */
export function storedSecretOf({ record }: LoadedRecord): Stored {
  const body = (record.body ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string) => (typeof body[name] === "string" ? body[name] : "");
  const { importMarks } = body;
  return {
    hash: text("hash"),
    start: text("start"),
    sealedSecret: text("sealedSecret") || null,
    importMarks: Array.isArray(importMarks)
      ? importMarks.filter((mark) => typeof mark === "string")
      : [],
  };
}

/**
 * Tries the key rings on the contents of a workspace.
 *
 * The vault is tried on every encrypted secret. A hash names its pepper, so a missing pepper is noticed. Whether a pepper is the
 * right one can be tested only if the secret or its plain hash is known: for recoverable keys that the vault opens, and for
 * imported keys.
 */
export class RingTrial {
  readonly #rings: KeyRings;
  readonly #hasher: SecretHasher;
  readonly #open: (sealed: string, keyId: string) => string | null;
  readonly #vault = new Map<string, Trial>();
  readonly #pepper = new Map<string, Trial>();
  /** Number of hashes by pepper, whether they could be tested or not. */
  readonly #hashes = new Map<string, number>();
  /** Number of root keys by pepper. */
  readonly #rootHashes = new Map<string, number>();

  constructor(rings: KeyRings, workspaceId: string) {
    this.#rings = rings;
    this.#hasher = createSecretHasher(rings.pepper ?? null);
    const vault = rings.vault && createVault(rings.vault, noRandom);
    this.#open = (sealed, keyId) => {
      try {
        return vault?.open(sealed, { workspaceId, keyId }) ?? null;
      } catch {
        return null;
      }
    };
  }

  /** Checks the record of a key. */
  look(loaded: LoadedRecord): void {
    const { id } = loaded.record;
    const { hash, sealedSecret, importMarks } = storedSecretOf(loaded);
    const pepperId = pepperIdOf(hash);
    if (pepperId !== null) this.#hashes.set(pepperId, (this.#hashes.get(pepperId) ?? 0) + 1);
    if (sealedSecret !== null) {
      const secret = this.#open(sealedSecret, id);
      note(this.#vault, idIn(sealedSecret, 1) ?? "", id, secret !== null);
      if (secret !== null && pepperId !== null && this.#hasPepper(pepperId))
        note(this.#pepper, pepperId, id, this.#hasher.candidates(secret).includes(hash));
    }
    // Marks are made from the plain hash, and an imported hash is plain.
    const marks = pepperId === null ? this.#hasher.importMarks(hash) : [];
    for (const mark of importMarks) {
      const markedBy = pepperIdOf(mark);
      if (pepperId === null && markedBy !== null && this.#hasPepper(markedBy))
        note(this.#pepper, markedBy, id, marks.includes(mark));
    }
  }

  /** Checks the record of a root key, as much of it as can be read. */
  lookAtRoot(loaded: LoadedRecord): void {
    const pepperId = pepperIdOf(storedSecretOf(loaded).hash);
    if (pepperId !== null)
      this.#rootHashes.set(pepperId, (this.#rootHashes.get(pepperId) ?? 0) + 1);
  }

  #hasPepper(id: string): boolean {
    return id in (this.#rings.pepper?.keys ?? {});
  }

  /** The findings. */
  *findings(): Iterable<Finding> {
    yield* this.#vaultFindings();
    yield* this.pepperFindings();
  }

  *#vaultFindings(): Iterable<Finding> {
    let opened = 0;
    let isWell = true;
    for (const [id, { tried, failed, firstFailed }] of this.#vault) {
      opened += tried - failed;
      if (failed === 0) continue;
      isWell = false;
      const key = `the key ${id} of LATCHKEY_VAULT_KEY`;
      const why =
        id in (this.#rings.vault?.keys ?? {})
          ? `${key} cannot decrypt: it is a different key, or the secret is damaged`
          : `${key} is missing`;
      yield wrong(
        "vault",
        `${plural(failed, "encrypted secret")}, the first of ${firstFailed}: ${why}`,
      );
    }
    if (isWell)
      yield fine(
        "vault",
        opened === 0 ? "no secret is encrypted" : `opens ${plural(opened, "encrypted secret")}`,
      );
  }

  /** The findings about peppers. */
  *pepperFindings(): Iterable<Finding> {
    let isWell = true;
    for (const [id, count] of this.#hashes) {
      if (this.#hasPepper(id)) continue;
      isWell = false;
      yield wrong(
        "pepper",
        `${plural(count, "key")}: the pepper ${id} of LATCHKEY_PEPPER is missing, so their secrets are not found`,
      );
    }
    for (const [id, count] of this.#rootHashes) {
      if (this.#hasPepper(id)) continue;
      isWell = false;
      yield wrong(
        "pepper",
        `${plural(count, "root key")}: the pepper ${id} of LATCHKEY_PEPPER is missing, so they authorise nothing`,
      );
    }
    let tried = 0;
    for (const [id, trial] of this.#pepper) {
      tried += trial.tried;
      if (trial.failed === 0) continue;
      isWell = false;
      yield wrong(
        "pepper",
        `${plural(trial.failed, "key")}, the first being ${trial.firstFailed}: the pepper ${id} of LATCHKEY_PEPPER is not the one that their hashes were made with`,
      );
    }
    if (isWell) yield fine("pepper", this.#pepperText(tried));
  }

  #pepperText(tried: number): string {
    if (tried > 0) return `fits ${plural(tried, "key")} that it could be tried on`;
    return this.#hashes.size === 0 && this.#rootHashes.size === 0
      ? "no hash was made with a pepper"
      : "has the ids of all hashes; its value can be checked only on recoverable and imported keys, and there are none";
  }
}

function note(trials: Map<string, Trial>, ringKeyId: string, keyId: string, fits: boolean): void {
  const trial = trials.get(ringKeyId) ?? { tried: 0, failed: 0, firstFailed: null };
  trials.set(ringKeyId, trial);
  trial.tried += 1;
  if (fits) return;
  trial.failed += 1;
  trial.firstFailed ??= keyId;
}

/** A part of a text with dots, or null if there is no such part with another one after it. */
function idIn(text: string, at: number): string | null {
  const parts = text.split(".");
  return at < parts.length - 1 ? (parts[at] ?? null) : null;
}

/** A vault that is only used for opening needs none. */
function noRandom(): never {
  throw new Error("nothing is encrypted here");
}
