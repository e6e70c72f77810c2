import { describeKeyStore } from "@latchkey/conformance";
import { memoryStore } from "./memory-store.js";

describeKeyStore("memory", memoryStore);
