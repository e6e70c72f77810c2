import type { ExchangeKeyInput, Latchkey, VerifyOutcome } from "@latchkey/core";
import type { Command } from "commander";
import { Refused } from "../command-line/failures.js";
import { type Field, span } from "../command-line/fields.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { withIds } from "../command-line/named-ids.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  type Input,
  inputOf,
} from "../command-line/operations.js";
import { instant, printRecord } from "../command-line/output.js";
import { QUESTION } from "../command-line/question.js";
import { ON_STDIN, readSecret } from "../command-line/secret-input.js";
import { readRings, withLatchkey } from "../command-line/store-options.js";
import { otherPeppers } from "../doctor/unknown-secret.js";

/** Adds `latchkey verify`: a verification, which charges the key as usual. */
export function addVerify(program: Command, host: Host): void {
  const verify = program
    .command("verify")
    .description(`verify a key as a server would, and charge it; exits with 1 if it is refused`)
    .option("--dry-run", "do not charge the key")
    .addHelpText("after", example("latchkey verify - --store sqlite:./keys.db < key.txt"));
  addQuestion(verify, QUESTION, host, async (latchkey, input, options) => {
    const { dryRun = false }: { readonly dryRun?: boolean } & CommonOptions = options;
    const verdict = await latchkey.verifyKey({ ...input, dryRun });
    printVerdict(verdict, options, host);
    return verdict;
  });
}

const OF_TOKEN: readonly Field[] = [
  { flags: "--audience <text>", text: "the service that the token is for" },
  {
    flags: "--ttl <span>",
    text: "how long the token is valid, from 1s to 15m (default: 5m)",
    read: span("--ttl", 1),
  },
];

/** Adds `latchkey exchange`: a verification, and a token if the key is valid. */
export function addExchange(program: Command, host: Host): void {
  const exchange = program
    .command("exchange")
    .description(
      "verify a key, charge it, and print a signed token for it; exits with 1 if it is refused",
    )
    .addHelpText("after", example("latchkey exchange - --audience billing < key.txt"));
  addQuestion(exchange, [...OF_TOKEN, ...QUESTION], host, async (latchkey, input, options) => {
    const verdict = await latchkey.exchangeKey(input as ExchangeKeyInput);
    // Only the token, for scripts.
    if (verdict.code === "VALID" && !options.json) host.print(verdict.token);
    else printVerdict(verdict, options, host);
    return verdict;
  });
}

type QuestionInput = Input & { readonly key: string };

/** Adds the fields and the action of a command that gets a verdict on the secret from stdin. It ends with 1 if the key is refused. */
function addQuestion(
  command: Command,
  fields: readonly Field[],
  host: Host,
  ask: (latchkey: Latchkey, input: QuestionInput, options: CommonOptions) => Promise<VerifyOutcome>,
): void {
  command.argument("<secret>", ON_STDIN);
  addCommonOptions(addInput(command, [], fields)).action(async (argument: string) => {
    const options = command.opts<CommonOptions>();
    const key = await readSecret(argument, host);
    const { secret: _, ...typed } = inputOf(command, fields, host);
    await withLatchkey(options, host, async (latchkey, store) => {
      const input = { ...(await withIds(latchkey, typed, command)), key };
      const { code, valid } = await ask(latchkey, input, options);
      if (code === "NOT_FOUND")
        for (const line of await otherPeppers(latchkey, store, readRings(host), key))
          host.warn(line);
      if (!valid) throw new Refused();
    });
  });
}

function printVerdict(verdict: VerifyOutcome, options: CommonOptions, host: Host): void {
  const about = verdict.code === "NOT_FOUND" ? undefined : verdict;
  const held = verdict.code === "VALID" ? verdict : undefined;
  const wait = about !== undefined && "retryAfterMs" in about ? about.retryAfterMs : undefined;
  const missing = about !== undefined && "missing" in about ? about.missing : undefined;
  printRecord(host, options, verdict, [
    ["code", verdict.code],
    ["keyId", about?.keyId],
    ["apiId", about?.apiId],
    ["name", about?.name],
    ["externalId", about?.identity?.externalId],
    ["remaining", about?.remaining],
    ["startsAt", instant(about?.startsAt)],
    ["expires", instant(about?.expires)],
    ["missing", missing === undefined ? undefined : JSON.stringify(missing)],
    ["retryAfterMs", wait],
    ["reservationId", held?.reservationId],
    ["expiresAt", instant(held?.expiresAt)],
  ]);
}
