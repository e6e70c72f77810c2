import type { Fixture } from "./fixture.js";

/** One way to call an operation, and the permissions that it requires. */
export interface Sample {
  readonly title: string;
  readonly name: string;
  readonly input: (fixture: Fixture) => object;
  /** `<resource>.<action>` of each permission; narrower ones must name the fixture's API or identity. */
  readonly requiredPermissions: readonly string[];
  /** Whether only the form for all resources is enough. */
  readonly isForAllOnly?: true;
  /** The kind of record that the input names: an unknown id is a NOT_FOUND. */
  readonly names?: "api" | "key" | "identity" | "role" | "permission" | "reservation" | "rootKey";
}

/** `title`: the name of the operation, and after a comma what is special. */
export function sample(
  title: string,
  input: Sample["input"],
  requiredPermissions: readonly string[],
  names?: Sample["names"] | "all",
): Sample {
  const [name = ""] = title.split(",");
  if (names === "all") return { title, name, input, requiredPermissions, isForAllOnly: true };
  return { title, name, input, requiredPermissions, ...(names !== undefined && { names }) };
}
