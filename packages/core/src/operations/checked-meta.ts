import type { InputIssue } from "../errors.js";
import { refusal } from "../lib/parse-input.js";
import type { StandardIssue } from "../lib/standard-schema.js";
import type { MetaSchema } from "../rules/latchkey-types.js";
import { checkMetadata, type Metadata } from "../rules/metadata.js";
import type { OperationContext } from "./context.js";

interface WithMeta {
  readonly meta?: Metadata | null | undefined;
}

/** The input with its metadata as the program's schema returns it. @throws LatchkeyError `BAD_REQUEST` with every issue, by path. */
export async function withCheckedMeta<Input extends WithMeta>(
  schema: MetaSchema | null,
  input: Input,
): Promise<Input> {
  const [checked] = await withCheckedMetas(schema, [input], () => "meta");
  return checked as Input;
}

/** Like {@link withCheckedMeta}, for each input of a list; paths begin with the index in the list (`3.meta.plan`). */
export async function withCheckedMetas<Input extends WithMeta>(
  schema: MetaSchema | null,
  inputs: readonly Input[],
  pathOf = (index: number) => `${index}.meta`,
): Promise<readonly Input[]> {
  if (schema === null) return inputs;
  const checks = await Promise.all(
    inputs.map((input, index) => check(schema, input, pathOf(index))),
  );
  const issues = checks.flatMap((one) => one.issues);
  if (issues.length > 0) throw refusal(issues);
  return checks.map(({ input }) => input);
}

/** Like {@link withCheckedMeta}, for an identity, where `{}` means no metadata. */
export async function withCheckedIdentityMeta<Input extends WithMeta>(
  { identityMeta }: Pick<OperationContext, "identityMeta">,
  input: Input,
): Promise<Input> {
  const isNone = Object.keys(input.meta ?? {}).length === 0;
  return isNone ? input : withCheckedMeta(identityMeta, input);
}

async function check<Input extends WithMeta>(schema: MetaSchema, input: Input, path: string) {
  const { meta } = input;
  if (meta === null || meta === undefined) return { input, issues: [] };
  // A copy, because a schema may modify its input, and this object is frozen.
  const result = await schema["~standard"].validate(structuredClone(meta));
  if (result.issues) return { input, issues: issuesAt(path, result.issues) };
  const kept = checkMetadata(result.value);
  if (!kept.ok) return { input, issues: [{ path, message: kept.message }] };
  return { input: { ...input, meta: kept.metadata }, issues: [] };
}

function issuesAt(path: string, issues: readonly StandardIssue[]): readonly InputIssue[] {
  // A schema can refuse without saying why.
  if (issues.length === 0) return [{ path, message: "is refused by its schema" }];
  return issues.map((issue) => {
    const keys = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
    return { path: [path, ...keys.map(String)].join("."), message: issue.message };
  });
}
