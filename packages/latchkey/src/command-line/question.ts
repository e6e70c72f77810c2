import { UsageError } from "./failures.js";
import { FIELDS, type Field } from "./fields.js";
import { list, wholeNumber } from "./values.js";

/** The fields of a verification, besides the key. */
export const QUESTION: readonly Field[] = [
  FIELDS.apiId,
  FIELDS.environment,
  FIELDS.ipAddress,
  {
    flags: "--permissions <list>",
    text: "names, separated by commas; the key must have all of them",
    field: "authorization",
    read: (text) => ({ permissions: { and: list(text) } }),
  },
  {
    flags: "--cost <n>",
    text: "uses to charge (default: 1)",
    field: "remaining",
    read: (text) => ({ cost: wholeNumber("--cost", 0)(text) }),
  },
  {
    flags: "--limits <list>",
    text: "limits to charge, with their costs: writes=2,reads",
    field: "ratelimits",
    read: namedCosts,
  },
];

function namedCosts(text: string): readonly object[] {
  return list(text).map((item) => {
    const [, name, cost] = /^([^=]{1,128})(?:=(\d{1,16}))?$/.exec(item) ?? [];
    if (name === undefined) throw new UsageError("--limits must be name=cost, such as writes=2");
    return { name, ...(cost !== undefined && { cost: Number(cost) }) };
  });
}
