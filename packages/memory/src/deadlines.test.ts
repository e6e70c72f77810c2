import { describeDeadlines } from "@latchkey/conformance";
import { memoryStore } from "./index.js";

const nothing = () => undefined;

describeDeadlines(
  "memory",
  async () => ({ open: memoryStore, stall: nothing, heal: nothing, remove: async () => undefined }),
  { stalled: { write: null, read: null }, opensSilent: false },
);
