import { hash } from "node:crypto";
import { SCRIPT_TEXTS } from "../lua/scripts.generated.js";

/** One atomic operation, in the form sent to Redis. */
export interface Script {
  readonly text: string;
  /** The name by which Redis knows the text. */
  readonly sha1: string;
  /** Whether the script may have written if its reply is lost. */
  readonly isWrite: boolean;
}

const { commit } = SCRIPT_TEXTS;
const TEXTS = {
  ...SCRIPT_TEXTS,
  /** For a change that creates nothing: a server that is out of memory runs it, since access must be revocable at any time. */
  commitFreeing: commit.replace("#!lua", "#!lua flags=allow-oom"),
};

const READS = [
  "daySums",
  "listHolds",
  "logPage",
  "page",
  "read",
  "readStatistics",
  "refusedCommands",
];

/** Every script, by the name of its file. */
export const SCRIPTS = Object.fromEntries(
  Object.entries(TEXTS).map(([name, text]) => {
    return [name, { text, sha1: hash("sha1", text), isWrite: !READS.includes(name) }];
  }),
) as { readonly [Name in keyof typeof TEXTS]: Script };

/** Every command that a script runs, with sample arguments behind its key; `@` repeats the key. */
export const SCRIPT_COMMANDS: readonly string[] = [
  "DEL",
  "GET",
  "HDEL f",
  "HEXISTS f",
  "HGET f",
  "HGETALL",
  "HMGET f",
  "HSET f v",
  "PEXPIRE 1",
  "SET v",
  "UNLINK",
  "ZADD 0 m",
  "ZCARD",
  "ZRANGEBYLEX - +",
  "ZRANGEBYSCORE 0 1",
  "ZREM m",
  "ZREVRANGEBYLEX + -",
  "ZUNIONSTORE 1 @",
];
