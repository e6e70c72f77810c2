/** A test: its file, and its title as written there. */
export type NamedTest = readonly [file: string, title: string];

/** A protection against an attack or a mistake, and the tests that prove it. */
export interface Control {
  readonly id: string;
  readonly control: string;
  readonly tests: readonly NamedTest[];
}

const AUTH = "packages/http/src/auth";
const CONTRACT = "packages/conformance/src/contract";
const CORE = "packages/core/src";
const HTTP = "packages/http/src";
const OPERATIONS = "packages/latchkey/test/operations";
const TEST = "packages/latchkey/test";

const SECRETS_SEARCH =
  "500 secrets are nowhere in what %s keeps and logs, nor in any answer, error or event";

const SECRETS_AT_REST: readonly Control[] = [
  {
    id: "C01",
    control: "No store keeps a secret: only hashes, and encrypted copies of recoverable secrets",
    tests: [
      ["packages/latchkey/test/secrets-search.drill.test.ts", SECRETS_SEARCH],
      [
        `${CORE}/operations/keys/create-key.test.ts`,
        "is never in the audit log with its hash or its sealed secret, but as recoverable",
      ],
      [`${CORE}/secrets/hash.property.test.ts`, "no hash holds the secret it was made from"],
    ],
  },
  {
    id: "C02",
    control: "A key is looked up by its hash; no method of a store is ever called with a secret",
    tests: [
      ["packages/latchkey/test/secrets-search.drill.test.ts", SECRETS_SEARCH],
      [`${CORE}/secrets/hash.test.ts`, "a secret is looked up by its hash alone"],
    ],
  },
  {
    id: "C03",
    control:
      "An encrypted secret can be decrypted only in its own record, and not after any bit of it has changed",
    tests: [
      [
        `${CORE}/secrets/vault.property.test.ts`,
        "what was sealed for a row opens in that row, and in no other",
      ],
      [`${CORE}/secrets/vault.test.ts`, "by any one bit of nonce, ciphertext or tag"],
      [`${CORE}/secrets/vault.test.ts`, "from any row to any other, over workspaces and keys"],
    ],
  },
  {
    id: "C04",
    control:
      "Reading a stored secret needs its own permission; without it, the answer has no such field",
    tests: [
      [
        `${AUTH}/permissions.test.ts`,
        "everything else without any one of them is refused, in words that name all of them and nothing held",
      ],
      [
        `${OPERATIONS}/list-keys.test.ts`,
        "decrypts what was made recoverable, and only where that is wanted",
      ],
    ],
  },
  {
    id: "C05",
    control: "A stored secret that belongs to another record is an error, and is never shown",
    tests: [
      [`${TEST}/secrecy.test.ts`, "are not in the answer of a store that was tampered with"],
      [
        `${OPERATIONS}/list-keys.test.ts`,
        "getKey refuses to decrypt a secret that does not open, and says why",
      ],
    ],
  },
  {
    id: "C06",
    control: "Deleting a key erases its data from the disk, encrypted secrets included",
    tests: [
      [
        "packages/sqlite/src/erasure.test.ts",
        "what a deleted record said, its names and its lists are on the disk no more, in the file as in the log",
      ],
      [
        `${OPERATIONS}/delete-key.test.ts`,
        "nothing of it is kept in the store but its entries in the log",
      ],
    ],
  },
  {
    id: "C07",
    control:
      "No error, log line, event, span or metric holds a secret, a hash or the password of a store",
    tests: [
      ["packages/latchkey/test/secrets-search.drill.test.ts", SECRETS_SEARCH],
      [
        `${HTTP}/canary.test.ts`,
        "no secret is in any response but those that issue it, in any log, or in any error",
      ],
      ["packages/otel/src/instrument.test.ts", "no secret is in a span or a metric"],
      ["packages/latchkey/src/store-url.test.ts", "the password in %s is never part of the error"],
    ],
  },
  {
    id: "C08",
    control: "A new secret is in one answer, which no cache may keep",
    tests: [
      [
        `${HTTP}/canary.test.ts`,
        "the secret of a new key is in the response that issues it, which is never cached",
      ],
      [
        `${TEST}/secrecy.test.ts`,
        "appear in what createKey and createRootKey answer, and in no other answer or error",
      ],
    ],
  },
  {
    id: "C09",
    control:
      "A key that is read shows neither hash nor encrypted secret, however it is printed; nor does a latchkey show its keys",
    tests: [
      [
        `${CORE}/verification/verdict.test.ts`,
        "never shows the hash, the start or the sealed secret of a key",
      ],
      [
        `${TEST}/secrecy.test.ts`,
        "appear in what createKey and createRootKey answer, and in no other answer or error",
      ],
    ],
  },
  {
    id: "C10",
    control:
      "A pepper or vault key that is weak, text, of the wrong length or used for both is refused at startup",
    tests: [
      [
        `${CORE}/secrets/key-ring.test.ts`,
        "a key of one repeated byte (%i) is refused: it is a placeholder, not a key",
      ],
      [`${CORE}/secrets/key-ring.test.ts`, "a key that is text is refused, not read as bytes"],
      [
        `${CORE}/secrets/key-ring.test.ts`,
        "refuses a secret that is in both rings, whatever its id and whichever is current",
      ],
    ],
  },
];

const CALLERS: readonly Control[] = [
  {
    id: "C11",
    control:
      "A resource of another workspace gets the same answer as a deleted one and one that never existed",
    tests: [
      [`${OPERATIONS}/existence.test.ts`, "$name: a foreign $kind answers as one that never was"],
      [`${AUTH}/existence.test.ts`, "$version $title: says nothing by its $kind of what it is"],
      [
        `${AUTH}/isolation.test.ts`,
        "$title: exists, deleted and never existed look the same and cost the same",
      ],
      [
        `${CONTRACT}/workspaces.ts`,
        "records, names and lists of one workspace are not there in another",
      ],
    ],
  },
  {
    id: "C12",
    control:
      "Only the token decides the caller and the workspace: no field, parameter or header does",
    tests: [[`${AUTH}/isolation.test.ts`, "$title: no field of the request changes it"]],
  },
  {
    id: "C13",
    control: "Each operation needs exactly its permissions; a root key has at least one",
    tests: [
      [
        `${AUTH}/permissions.test.ts`,
        "exactly its permissions for all resources are enough, and so is *",
      ],
      [
        `${AUTH}/permissions.test.ts`,
        "nothing, near-misses and permissions for another resource are refused",
      ],
      [`${OPERATIONS}/root-keys.test.ts`, "need at least one permission, and only known ones"],
    ],
  },
  {
    id: "C14",
    control:
      "No root key can give another root key, or itself, more than it holds, and passing a permission on never widens it",
    tests: [
      [
        `${TEST}/root-key-laws.test.ts`,
        "R1: no call gives a root key more than who calls holds (seed %i)",
      ],
      [
        `${TEST}/root-key-laws.test.ts`,
        "R2: what a root key holds is read in the commit, however long ago it was let in",
      ],
      [
        `${CORE}/rules/permission.property.test.ts`,
        "granting is transitive: who may grant a permission may do what it grants",
      ],
    ],
  },
  {
    id: "C15",
    control: "A key is never accepted as a root key, nor a root key as a key",
    tests: [
      [
        `${OPERATIONS}/root-keys.test.ts`,
        "are no keys of an API, and keys of an API are no root keys",
      ],
    ],
  },
  {
    id: "C16",
    control:
      "The caller is authenticated before the body is read; an unknown caller costs one read at most and writes nothing",
    tests: [
      [
        `${AUTH}/authenticate.test.ts`,
        "an unknown caller costs one read of the store at most, and writes nothing",
      ],
      [`${AUTH}/authenticate.test.ts`, "an unknown caller gets 401 before anything about the body"],
    ],
  },
  {
    id: "C17",
    control: "Every invalid root key is refused in the same words",
    tests: [
      [
        `${AUTH}/authenticate.test.ts`,
        "every token that is not good is refused in the same words, whatever is wrong with it",
      ],
    ],
  },
  {
    id: "C18",
    control:
      "Names of permissions and roles are compared byte by byte; the only wildcard is a whole segment",
    tests: [
      [
        `${CORE}/rules/permission.property.test.ts`,
        "what one permission grants is what comparing segment by segment says",
      ],
      [
        `${CONTRACT}/commit/claims.ts`,
        "names are compared character by character: case, spaces and accents count",
      ],
    ],
  },
];

const INPUT: readonly Control[] = [
  {
    id: "C19",
    control:
      "The size of a body is bounded while it is read, with or without Content-Length, and a compressed body is refused",
    tests: [
      [`${HTTP}/request/body.test.ts`, "64 KiB are read, one byte more is 413, announced or not"],
      [`${HTTP}/request/body.test.ts`, "a compressed body is not read"],
      [
        `${HTTP}/routing/endless-upload.drill.test.ts`,
        "gets its 413, is disconnected, and the process grows by less than 2 MiB",
      ],
    ],
  },
  {
    id: "C20",
    control: "Nesting is bounded without recursion, so depth costs no stack and poisons no list",
    tests: [
      [`${HTTP}/request/json.test.ts`, "a million levels cost no stack, closed or not"],
      [
        `${CORE}/rules/metadata.test.ts`,
        "100,000 levels through an %s on each are refused without running out of stack",
      ],
    ],
  },
  {
    id: "C21",
    control:
      "Lists, objects and metadata have bounds, and input beyond them is refused in the time it takes to read it",
    tests: [
      [`${HTTP}/hostile.test.ts`, "of %s is refused briefly, in the time of a reader"],
      [
        `${CORE}/rules/metadata.property.test.ts`,
        "an object is refused for its size exactly when its JSON is longer than 16,384 bytes",
      ],
    ],
  },
  {
    id: "C22",
    control: "An unknown field is refused by its name",
    tests: [
      [
        `${CORE}/operations/input.test.ts`,
        "with a field that is not known is refused by its name, at any depth",
      ],
    ],
  },
  {
    id: "C23",
    control: "A JSON member or a parameter that is given twice is refused",
    tests: [
      [
        `${HTTP}/request/json.test.ts`,
        "one given twice is refused, at every level and in every spelling",
      ],
      [`${HTTP}/request/query.test.ts`, "one given twice is an issue, in whatever spelling"],
    ],
  },
  {
    id: "C24",
    control:
      "Input changes no prototype, a polluted prototype admits nobody, and latchkey, once loaded, runs with frozen prototypes",
    tests: [
      [
        `${HTTP}/request/json.test.ts`,
        "__proto__ is a member like any other and touches no prototype",
      ],
      [
        ".ci/polluted.drill.test.ts",
        "no property added to Object.prototype makes a guard or a verdict admit anyone it refused before",
      ],
      [
        ".ci/polluted.drill.test.ts",
        "no property added to Object.prototype makes a handler act on a request without permission",
      ],
      [
        "packages/latchkey/src/frozen-prototypes.drill.test.ts",
        "a key lives its life on prototypes that were frozen once latchkey was loaded, without code made of texts",
      ],
    ],
  },
  {
    id: "C25",
    control: "Numbers are whole, within bounds, and exact up to 2^53 - 1, in input as in stores",
    tests: [
      [`${OPERATIONS}/bad-input.test.ts`, "of %s is never worse than a refusal"],
      [`${HTTP}/request/query.test.ts`, "plain decimal whole numbers become numbers"],
      [`${CONTRACT}/names-and-numbers.ts`, "uses, costs and limits are exact up to 2^53 − 1"],
    ],
  },
  {
    id: "C26",
    control: "Strings are well formed and bounded, and are stored unchanged",
    tests: [
      [
        `${OPERATIONS}/bad-input.test.ts`,
        "of %s is refused by the name of its field, and nothing is written",
      ],
      [`${HTTP}/request/body.test.ts`, "metadata and names come back to the letter"],
    ],
  },
  {
    id: "C27",
    control: "A presented string that cannot be a key is refused without a read of the store",
    tests: [
      [
        `${OPERATIONS}/presented-key.test.ts`,
        "%s is NOT_FOUND, whatever the question, and no store is read",
      ],
    ],
  },
  {
    id: "C28",
    control: "No regular expression takes more than linear time, even on the longest input",
    tests: [[".ci/regular-expressions.test.ts", "$file: $expression"]],
  },
  {
    id: "C29",
    control: "Strings from callers reach SQL and Lua only as values",
    tests: [
      [
        `${CONTRACT}/names-and-numbers.ts`,
        "any text can be claimed, and each finds its own record",
      ],
      ["packages/redis/src/lua/scripts.test.ts", "the embedded texts are those of the files"],
    ],
  },
  {
    id: "C30",
    control: "No name of a Redis key contains a string from a caller",
    tests: [
      [
        "packages/redis/src/layout.drill.test.ts",
        "all of one workspace have one slot, workspaces spread over the primaries, and no name holds a user's text",
      ],
      ["packages/redis/src/lua/scripts.test.ts", "%s joins no text to the name of a key"],
    ],
  },
  {
    id: "C31",
    control:
      "A list that is too long is refused, whatever its length, and never exhausts the stack",
    tests: [
      [`${HTTP}/hostile.test.ts`, "of %s is refused briefly, in the time of a reader"],
      [
        `${CORE}/lib/json.test.ts`,
        "a value of a million levels is no harder than another, nor is one that holds itself",
      ],
    ],
  },
];

const STATE: readonly Control[] = [
  {
    id: "C32",
    control: "Uses and every limit are taken in one atomic step, and a refusal takes nothing",
    tests: [
      [
        `${CONTRACT}/charge/limits.ts`,
        "one full limit refuses, and nothing is taken from any limit or use",
      ],
      [
        `${CORE}/store/charge.property.test.ts`,
        "every step answers as taking one thing after another and undoing all on a refusal does",
      ],
    ],
  },
  {
    id: "C33",
    control: "No more is admitted than was granted, whatever the number of callers",
    tests: [
      [
        `${CONTRACT}/charge/uses-and-refills.ts`,
        "of N charges at once exactly as many go through as there are uses, each with its own number left",
      ],
      [
        `${CORE}/store/charge.property.test.ts`,
        "what is admitted in one window of one limit never adds up to more than the limit, however the clock moves",
      ],
    ],
  },
  {
    id: "C34",
    control:
      "A verification that starts after a revocation has resolved is refused, in every process",
    tests: [
      [
        `${CONTRACT}/charge/confirmation.ts`,
        "of charges beside a revocation none that started after it goes through",
      ],
      [
        `${CONTRACT}/charge/confirmation.ts`,
        "once a change has resolved, no plan made before it is carried out, on any connection",
      ],
    ],
  },
  {
    id: "C35",
    control: "Limits are replaced as a whole: no verification sees some old and some new ones",
    tests: [
      [
        `${TEST}/replaced-limits.test.ts`,
        "are never met half, by any process, while they are replaced again and again",
      ],
    ],
  },
  {
    id: "C36",
    control: "A key is created with everything it needs, or not at all",
    tests: [
      [
        `${OPERATIONS}/create-key.test.ts`,
        "names every missing role and permission and writes nothing",
      ],
      [
        "packages/sqlite/src/processes.drill.test.ts",
        "nothing that was answered is lost, and nothing is half written, when the process is killed (%s)",
      ],
    ],
  },
  {
    id: "C37",
    control: "Concurrent calls that name a new identity create it once",
    tests: [
      [
        `${OPERATIONS}/create-key.test.ts`,
        "makes the identity of a new externalId once, whatever the number of racers",
      ],
    ],
  },
  {
    id: "C38",
    control: "A clock that is set back revives no key, repeats no refill and reopens no window",
    tests: [
      [`${CORE}/store/charge.property.test.ts`, "no window and no refill ever goes back"],
      [`${CORE}/time.property.test.ts`, "every answer is the highest reading so far"],
      [
        `${CONTRACT}/charge/limits.ts`,
        "calls of a process whose clock is days ahead reopen no window of anybody else's, and forget no request",
      ],
    ],
  },
  {
    id: "C39",
    control: "An expired or exhausted key works again only after an explicit change",
    tests: [
      [`${CORE}/rules/keys/lifecycle.property.test.ts`, "time alone never enables a key"],
      [
        `${CORE}/rules/keys/lifecycle.test.ts`,
        "an exhausted key is not enabled by enabled: true alone: that is refused",
      ],
    ],
  },
];

const AVAILABILITY: readonly Control[] = [
  {
    id: "C40",
    control:
      "If its store is unavailable, a verification fails within its deadline, and is never valid",
    tests: [
      [
        "packages/conformance/src/describe-deadlines.ts",
        "every call to a peer that has never said anything is refused, and nothing of it is left",
      ],
      [
        "packages/guard/src/decide.test.ts",
        "a store that does not answer: 503 with Retry-After, and onError is called",
      ],
      [
        `${HTTP}/routing/errors.test.ts`,
        "a store that is away is 503 with Retry-After, and says whether a change may have happened",
      ],
    ],
  },
  {
    id: "C41",
    control: "Made-up keys take no memory and write nothing, however many there are",
    tests: [[`${TEST}/made-up-keys.test.ts`, "write nothing, and are not kept in memory"]],
  },
  {
    id: "C42",
    control:
      "Other HTTP methods are refused, and the right one is named; responses are JSON that is neither cached nor sniffed",
    tests: [
      [
        `${HTTP}/routing/errors.test.ts`,
        "$name: every other verb is 405 and says which one is right",
      ],
      [
        `${HTTP}/routing/errors.test.ts`,
        "JSON in UTF-8, not stored, not sniffed, with a request id of its own",
      ],
    ],
  },
  {
    id: "C43",
    control: "Two Authorization headers are refused, on every kind of server",
    tests: [
      [
        `${HTTP}/routing/node-listener.test.ts`,
        "two Authorization headers are 401, the same or not, in whatever order",
      ],
      [
        "packages/guard/src/frameworks.test.ts",
        "refuses a header that is sent twice, two keys that differ, and control characters",
      ],
    ],
  },
  {
    id: "C44",
    control:
      "Dependencies, their ranges and their install scripts are listed; releases have a bill of materials and provenance",
    tests: [
      [
        ".ci/runtime-dependencies.test.ts",
        "of $directory are those that were argued, in these ranges",
      ],
      [
        ".ci/runtime-dependencies.test.ts",
        "run for better-sqlite3 alone, and one of any other package fails the installation",
      ],
      [
        ".ci/sbom.test.ts",
        "the bill of materials has what a package depends on, to any depth, and what is bundled into it",
      ],
      [
        ".ci/workflow.test.ts",
        "publishes with provenance, after all checks and the bill of materials, and without a token",
      ],
    ],
  },
  {
    id: "C45",
    control:
      "A listener that fails or hangs changes no decision; the audit log is part of the write itself",
    tests: [
      [
        `${CORE}/audit/emitter.test.ts`,
        "that throws does not reach the caller: the error is reported",
      ],
      [`${OPERATIONS}/events.test.ts`, "change nothing and hold nothing up"],
      [
        `${OPERATIONS}/changes.test.ts`,
        "is emitted to listeners and written to the log: who, what, when, before and after",
      ],
    ],
  },
  {
    id: "C46",
    control: "A damaged record admits nobody, hides no other, and can be revoked",
    tests: [
      [
        `${HTTP}/operations/unreadable.test.ts`,
        "a damaged record is left out of its page and counted, and hides no other",
      ],
      [`${CORE}/verification/catalog-damage.test.ts`, "of a key concerns that key alone"],
      [
        "packages/redis/src/damaged.test.ts",
        "a key with damaged counters can be deleted, and its shared ones stay for the other",
      ],
    ],
  },
  {
    id: "C47",
    control:
      "A cursor holds only a position: one that was edited, or belongs to another list or workspace, is refused",
    tests: [
      [
        `${CORE}/lib/cursor.property.test.ts`,
        "a cursor is read by the list it was written for, and by no other",
      ],
      [`${AUTH}/isolation.test.ts`, "a cursor of another workspace starts no page there"],
    ],
  },
];

/** Every control, in groups. */
export const CONTROLS: readonly (readonly [group: string, controls: readonly Control[]])[] = [
  ["Secrets", SECRETS_AT_REST],
  ["Callers and tenants", CALLERS],
  ["Input", INPUT],
  ["State", STATE],
  ["Availability and supply", AVAILABILITY],
];

/** The table of SECURITY.md. */
export function controlTable(): string {
  const rows = CONTROLS.flatMap(([group, controls]) => [
    `| | **${group}** | |`,
    ...controls.map(
      ({ id, control, tests }) => `| ${id} | ${control} | ${tests.map(link).join("<br>")} |`,
    ),
  ]);
  return ["| | Control | Tests |", "| --- | --- | --- |", ...rows].join("\n");
}

/** A link to a test, with its title escaped for Markdown. */
function link([file, title]: NamedTest): string {
  return `[${title.replace(/[|*_[\]<>`$\\]/g, "\\$&")}](${file})`;
}
