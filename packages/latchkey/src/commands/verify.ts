import type { Command } from "commander";
import { Refused } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { withIds } from "../command-line/named-ids.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  inputOf,
} from "../command-line/operations.js";
import { instant, printRecord } from "../command-line/output.js";
import { QUESTION } from "../command-line/question.js";
import { ON_STDIN, readSecret } from "../command-line/secret-input.js";
import { readRings, withLatchkey } from "../command-line/store-options.js";
import { otherPeppers } from "../doctor/unknown-secret.js";

/** Adds `latchkey verify`: a verification, with all that it takes. */
export function addVerify(program: Command, host: Host): void {
  const verify = program
    .command("verify")
    .description(
      `verify a key as a server would, and take what that costs; ends with 1 where it is refused`,
    )
    .argument("<secret>", ON_STDIN)
    .option("--dry-run", "take nothing")
    .addHelpText("after", example("latchkey verify - --store sqlite:./keys.db < key.txt"));
  addCommonOptions(addInput(verify, [], QUESTION)).action(async (argument: string) => {
    const options = verify.opts<CommonOptions & { readonly dryRun?: true }>();
    const key = await readSecret(argument, host);
    const { secret: _, ...typed } = inputOf(verify, QUESTION, host);
    await withLatchkey(options, host, async (latchkey, store) => {
      const question = await withIds(latchkey, typed, verify);
      const input = { ...question, key, dryRun: options.dryRun ?? false };
      const verdict = await latchkey.verifyKey(input);
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
      if (verdict.code === "NOT_FOUND")
        for (const line of await otherPeppers(latchkey, store, readRings(host), key))
          host.warn(line);
      if (!verdict.valid) throw new Refused();
    });
  });
}
