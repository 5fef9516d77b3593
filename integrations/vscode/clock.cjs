// Puts the clock of VS Code's processes forward by as many milliseconds as the file of PODD_CLOCK says.
const fs = require("node:fs");

let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
setInterval(() => fs.readFile(process.env.PODD_CLOCK, "utf8", (err, text) => (ahead = err ? 0 : Number(text))), 100).unref();
