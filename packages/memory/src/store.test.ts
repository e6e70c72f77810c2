import { describeKeyStore } from "@latchkey/conformance";
import { memoryStore } from "./index.js";

describeKeyStore("memory", memoryStore);
