import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { choiceOption, wholeNumber } from "../command-line/values.js";
import { RULE_FORMATS, type RuleFormat, scannerRule } from "../secrets/scanner-rules.js";
import { BYTE_LENGTH } from "../secrets/secret-body.js";

interface Options {
  readonly prefix: string;
  readonly byteLength: number | "any";
  readonly format: RuleFormat;
}

const DESCRIPTION = `print a rule for secret scanners that finds every key with a prefix

The pattern is exact in length and in the leading characters. No regular expression can verify the checksum at the end of a key, so the rule also finds any other text with the prefix, that length and those characters.`;

/** Adds `latchkey scanner-rules`: rules with which secret scanners find leaked keys. */
export function addScannerRules(program: Command, host: Host): void {
  program
    .command("scanner-rules")
    .summary("print a rule for secret scanners")
    .description(DESCRIPTION)
    .requiredOption("--prefix <text>", "prefix of the keys, without its last _", readPrefix)
    .addOption(
      choiceOption(
        "--format <scanner>",
        "the scanner to write for; github: a custom pattern for GitHub",
        RULE_FORMATS,
      ).default("gitleaks"),
    )
    .option(
      "--byte-length <n>",
      "random bytes of the keys, 16 to 255, or any, which is less exact",
      readByteLength,
      BYTE_LENGTH.min,
    )
    .addHelpText("after", example("latchkey scanner-rules --prefix pay_live >> .gitleaks.toml"))
    .action(({ prefix, byteLength, format }: Options) =>
      host.print(
        scannerRule({ prefix, byteLength: byteLength === "any" ? null : byteLength }, format),
      ),
    );
}

function readPrefix(text: string): string {
  if (/^[A-Za-z0-9_-]{0,15}[A-Za-z0-9-]$/.test(text)) return text;
  throw new UsageError(
    "--prefix must be 1 to 16 characters of A-Z a-z 0-9 _ - and must not end in _",
  );
}

/** Not null for any length: commander would make an empty text of it. */
function readByteLength(text: string): number | "any" {
  return text === "any"
    ? text
    : wholeNumber("--byte-length", BYTE_LENGTH.min, BYTE_LENGTH.max)(text);
}
