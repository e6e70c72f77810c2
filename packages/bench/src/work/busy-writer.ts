import { fillForOthers, storeName } from "../fixture/row-file.js";
import { interleave } from "../measure/interleave.js";
import { questionOf } from "../questions.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Work } from "./work.js";

/** Measures a question that counts nothing on SQLite, while another process creates keys in latchkey's file as fast as it can. */
export const verifyBesideWriter: Work = async ({ location, scale }) => {
  const question = questionOf("permission");
  const file = await fillForOthers("sqlite", location, question, scale.keys);
  const opening = {
    kind: "sqlite",
    location,
    questionId: question.id,
    keys: { file },
    auditLog: true,
  } as const;
  const sides = await Promise.all(
    (["limit", "latchkey"] as const).map((side) =>
      RemoteSide.open(side, { ...opening, side, name: storeName(side, question) }),
    ),
  );
  // Each key is verified once before: first verifications are measured elsewhere.
  for (const side of sides) await side.contender("verify").run(scale.keys);
  const writer = await RemoteSide.open("writer", {
    ...opening,
    side: "latchkey",
    name: storeName("latchkey", question),
  });
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await writer.contender("create").run(10);
  })();
  const samples = await interleave(
    sides.map((side) => side.contender("verify")),
    scale.pace,
  );
  isOver = true;
  await writing;
  for (const side of [...sides, writer]) await side.close();
  const title = "permission, while another process writes";
  return [{ id: "busy/sqlite", title, unit: "µs", sides: samples }];
};
