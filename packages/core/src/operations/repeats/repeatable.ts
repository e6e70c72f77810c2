import { LatchkeyError, unavailable } from "../../errors.js";
import { canonicalJson, isDeeperThan } from "../../lib/json.js";
import { type InputSchema, parseInput, unreadable } from "../../lib/parse-input.js";
import { sha256Text } from "../../secrets/hash.js";
import { type OperationContext, portalActor } from "../context.js";
import { noInput, text } from "../input.js";
import { getKeyById } from "../keys/load.js";
import { openedSecret } from "../keys/recovery.js";
import { AnsweredBefore, createRepeatableCall } from "./repeatable-call.js";
import type { RepeatScope } from "./repetition-input.js";

const idempotencyKeySchema = text(1, 128);

type Call = (input: unknown, scope: unknown) => unknown;

/** Runs a write; with an `idempotencyKey`, in its input or in a second argument, a repeat returns the same and writes nothing. */
export function repeatable(
  context: OperationContext,
  name: string,
  schema: InputSchema | null,
  run: (context: OperationContext, ...given: readonly unknown[]) => unknown,
): Call {
  return (input, scope) => {
    const isInInput = hasIdempotencyKey(input);
    const holder = isInInput ? input : scope;
    if (!hasIdempotencyKey(holder)) return run(context, input, scope);
    try {
      const { idempotencyKey, ...others } = holder;
      const given = isInInput ? [others, scope] : [input, others];
      return idempotencyKey === undefined
        ? run(context, ...withoutEmptyScope(given))
        : runRepeatably(context, { name, schema, run }, idempotencyKey, given);
    } catch (error) {
      return Promise.reject(unreadable(error, holder));
    }
  };
}

function hasIdempotencyKey(holder: unknown): holder is { readonly idempotencyKey: unknown } {
  if (typeof holder !== "object" || holder === null) return false;
  try {
    return Object.hasOwn(holder, "idempotencyKey");
  } catch {
    // A proxy that throws: the operation itself refuses it.
    return false;
  }
}

async function runRepeatably(
  context: OperationContext,
  operation: {
    readonly name: string;
    readonly schema: InputSchema | null;
    readonly run: (context: OperationContext, ...given: readonly unknown[]) => unknown;
  },
  idempotencyKey: unknown,
  given: readonly unknown[],
): Promise<unknown> {
  const { name, schema } = operation;
  const [input, scope] = given;
  const checked = idempotencyKeySchema.safeParse(idempotencyKey);
  if (!checked.success) {
    const issues = checked.error.issues.map(({ message }) => ({ path: "idempotencyKey", message }));
    throw parseInput(schema ?? noInput, schema === null ? {} : input, () => issues);
  }
  const { beforeFirst, mayDecrypt, complete, ...options } = Object(scope) as RepeatScope;
  // The permissions of the same caller may have changed meanwhile, so only its identity counts.
  const { by: _, ...asked } = options as { readonly by?: unknown };
  const question = [checked.data, name, input, asked];
  // In all sessions of an identity, a call is the same, whoever acts in them.
  const actor = context.confinedTo ? portalActor(context.confinedTo.identityId) : context.actor;
  const caller = sha256Text(canonicalJson([checked.data, actor]));
  for (;;) {
    // No schema accepts an input this deep, so the call is refused anyway.
    const digest = sha256Text(isDeeperThan(MAX_DEPTH, question) ? "" : canonicalJson(question));
    const call = createRepeatableCall(context, { caller, input: digest, beforeFirst });
    try {
      const completed = complete ? { ...Object(input), ...(await call.made(complete)) } : input;
      const rest = withoutEmptyScope([completed, options]);
      const answering = operation.run({ ...context, call }, ...rest);
      return await call.finish(await answering);
    } catch (error) {
      const { code } = error as Partial<LatchkeyError>;
      if (code === "STORE_UNAVAILABLE") throw error;
      const outcome = await call.outcome().catch((other: unknown) => {
        throw code === "BAD_REQUEST" ? error : other;
      });
      if (outcome.kind === "answered") return withSecret(context, outcome.value, mayDecrypt);
      // The same call is running elsewhere, and this one met its writes: continue after them.
      if (outcome.kind === "advanced") continue;
      if (!(error instanceof AnsweredBefore)) throw error;
      // The time of the remembered answer has just ended, between two reads.
      throw unavailable(
        "the remembered result of this call has just expired; nothing was written, try again",
      );
    }
  }
}

/** Most levels of an input that go into its digest. */
const MAX_DEPTH = 40;

function withoutEmptyScope([input, scope]: readonly unknown[]): readonly unknown[] {
  return [input, Object.keys(Object(scope)).length === 0 ? undefined : scope];
}

/** The result of a repeat, with the secret if it is recoverable; otherwise just the remembered result. */
async function withSecret(
  context: OperationContext,
  answer: unknown,
  mayDecrypt: RepeatScope["mayDecrypt"] = () => true,
): Promise<unknown> {
  const { secretShownBefore, ...others } = Object(answer) as Readonly<Record<string, unknown>>;
  const { keyId } = others;
  if (secretShownBefore !== true || typeof keyId !== "string") return answer;
  try {
    const loaded = await getKeyById(context, keyId);
    const key = mayDecrypt(loaded.key.apiId) ? openedSecret(context, loaded) : null;
    return key === null ? answer : { ...others, key };
  } catch (error) {
    // The key or its vault is gone or damaged: there is no secret to show.
    if (error instanceof LatchkeyError && error.code !== "STORE_UNAVAILABLE") return answer;
    throw error;
  }
}
