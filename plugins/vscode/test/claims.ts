// Takes the claims whose keys stand on lines of standard input, and says of each whether it got it.
import * as readline from "node:readline";

import { Claims, claimsDir } from "../src/views/claims";

const claims = new Claims(claimsDir());
readline.createInterface({ input: process.stdin }).on("line", (key) => console.log(String(claims.take(key))));
