import { LatchkeyError, noAnswer, unavailable } from "@latchkey/core";

/** First words of Redis errors that refuse a command before it does anything, and their meaning for the operator. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["LOADING", "Redis is still loading its data"],
  ["READONLY", "Redis has become a replica and takes no writes"],
  ["OOM", "Redis has reached its maxmemory"],
  ["CLUSTERDOWN", "the Redis Cluster does not serve the slot of this workspace"],
  ["MASTERDOWN", "the Redis replica has lost its primary"],
  ["MISCONF", "Redis cannot save to its disk and takes no writes"],
  ["NOREPLICAS", "Redis has fewer replicas than min-replicas-to-write"],
  ["BUSY", "Redis is busy running another script"],
  ["TRYAGAIN", "the slot of this workspace is being moved to another node"],
  ["NOAUTH", "Redis asks for a password: set one in the URL or the client"],
  ["WRONGPASS", "Redis refused the user name or password"],
  [
    "NOPERM",
    "the Redis user lacks a permission that latchkey needs: the README of @latchkey/redis lists them",
  ],
]);

/** What a Redis error means for the operator; null if its first word is unknown. */
export function redisRefusal(word: string): string | null {
  const refusal = REFUSALS.get(word);
  return refusal === undefined ? null : `${refusal} (${word})`;
}

/**
 * The error that a caller gets for an error of the driver. Never the driver's error itself, which carries the arguments of the command,
 * nor its text.
 */
export function translateError(error: unknown, isWrite: boolean): LatchkeyError {
  if (error instanceof LatchkeyError) return error;
  if (isCutShort(error)) return lacksRight(isWrite);
  if (isOfUnknownCommand(error)) return unavailable(lacksCommands());
  const word = firstWord(error);
  if (word !== "") return refusedWith(word);
  // The two messages with which ioredis refuses to send without a connection and an offline queue.
  if (/enableOfflineQueue options is false$/.test(String(error)))
    return unavailable("Redis is not connected");
  // ioredis also refuses to send on a connection that is subscribed or monitors.
  if (/Connection (is )?in (subscriber|monitoring) mode/.test(String(error)))
    return unavailable(
      "the Redis client is subscribed to channels, or monitors the server: give latchkey a client of its own",
    );
  const isLate = Object(error).message === "Command timed out";
  const why = isLate
    ? "Redis did not answer within commandTimeout of the client"
    : "the connection to Redis was lost before the answer came";
  return noAnswer(isWrite, why);
}

/**
 * Whether Redis refused a command within a script for lack of a permission. The script may have written before: see
 * `refused-commands.lua`.
 */
export function isCutShort(error: unknown): boolean {
  return firstWord(error) !== "" && isOfRights(String(error));
}

/** What it means for the operator that the server does not have these commands, or one whose name is not known. */
export function lacksCommands(names: readonly string[] = []): string {
  const which = names.length === 0 ? "a command" : names.join(", ");
  return `Redis does not have ${which}, which latchkey needs: was it renamed (rename-command)?`;
}

/** Whether the server does not have the command that was sent, and so did nothing. */
export function isOfUnknownCommand(error: unknown): boolean {
  return firstWord(error) !== "" && /^ERR unknown command/.test((error as Error).message);
}

/** The error for a command that the user may not run, in a script that may have run others before it. */
function lacksRight(isWrite: boolean): LatchkeyError {
  return noAnswer(isWrite, redisRefusal("NOPERM") as string);
}

function isOfRights(text: string): boolean {
  return /user executing the script can't|ACL failure in script/.test(text);
}

/** The error for a plan that failed within a script. `text`: the error text there. `isWrite`: whether the plan may have written before. */
export function refusedPlan(text: string, isWrite: boolean): LatchkeyError {
  if (isOfRights(text)) return lacksRight(isWrite);
  return refusedWith(text.split(" ")[0]);
}

/** Redis answers this to each command after a MULTI: the command runs with the EXEC of the client's owner, or never. */
export function isQueued(answer: unknown): boolean {
  return answer === "QUEUED";
}

/** The error for a command that was queued. */
export function queued(isWrite: boolean): LatchkeyError {
  return noAnswer(
    isWrite,
    "the Redis client is inside a MULTI of its owner: give latchkey a client of its own",
  );
}

/** The error for a script that did nothing. `word`: first word of the reply of Redis or of the script. */
export function refusedWith(word = ""): LatchkeyError {
  const refusal = redisRefusal(word);
  if (refusal !== null) return unavailable(refusal);
  if (word !== "WRONGTYPE")
    return new LatchkeyError("INTERNAL_SERVER_ERROR", "Redis could not run a script of latchkey");
  const message = "a Redis key of latchkey holds a value of another type and was not used";
  return new LatchkeyError("STORE_CORRUPT", message);
}

/** First word of a Redis error: `NOSCRIPT`, `READONLY` …, "ERR" if it has none; "" for an error of ioredis. */
export function firstWord(error: unknown): string {
  const { name, message }: { readonly name?: unknown; readonly message?: unknown } = Object(error);
  if (name !== "ReplyError") return "";
  return /^-?([A-Z]+)/.exec(String(message))?.[1] ?? "ERR";
}
