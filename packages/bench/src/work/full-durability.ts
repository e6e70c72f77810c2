import { createLatchkey } from "@latchkey/core";
import { sqliteStore } from "@latchkey/sqlite";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { databasePath } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { seededRandom, uniform } from "../measure/random.js";
import { GUARDED } from "../questions.js";
import { latchkeySide } from "../sides/latchkey.js";
import { limitSide } from "../sides/limit.js";
import { sqliteLimit } from "../sides/limit-sqlite.js";
import { CountedAsking } from "./counting.js";
import type { Work } from "./work.js";

const SEED = 20_260_701;

/**
 * Measures SQLite with every charge on disk before it is answered. The limit commits each charge by itself, latchkey those of one turn
 * together.
 */
export const verifyWithFullDurability: Work = async ({ location, scale }) => {
  const store = sqliteStore(databasePath(location, "latchkey"), { durability: "full" });
  const latchkey = createLatchkey({ store });
  const secrets = await mintSecrets(scale.keys);
  const rows = await new KeyIssuer(latchkey, GUARDED.keys).issue(secrets);
  const limit = await limitSide("memory", location, "limit", rows, GUARDED);
  const path = databasePath(location, "limit");
  const sides = [
    { ...limit, verify: sqliteLimit(path, rows, GUARDED, "FULL") },
    latchkeySide(latchkey, GUARDED, scale.keys),
  ];
  const askings = sides.map((side) => new CountedAsking(side, secrets, GUARDED));
  // The first charge of a key writes rows that later ones find.
  for (const asking of askings) await asking.askAll();
  const measure = async (id: string, order: string, pick?: () => () => number) => ({
    id,
    title: `every charge on disk, 64 in flight, ${order}`,
    unit: "µs" as const,
    sides: await interleave(
      // Each side draws the same keys in the same order.
      askings.map((asking) => asking.contender(64, pick?.())),
      scale.pace,
    ),
  });
  const measurements = [
    await measure("durable/sqlite", "keys drawn at random", () =>
      uniform(scale.keys, seededRandom(SEED)),
    ),
    // Keys created one after the other share pages, which helps only a common commit.
    await measure("durable/sqlite/in-order", "keys in the order of their creation"),
  ];
  for (const asking of askings) await asking.assertCounts();
  await latchkey.close();
  return measurements;
};
