// Puts the clock of VS Code's processes forward by as many milliseconds as the file "ahead" in the directory PODD_CLOCK says.
// Each process that has done so writes the number to a file there that has its process id as name.
const fs = require("node:fs");
const path = require("node:path");

const dir = process.env.PODD_CLOCK;
let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

function look() {
  const said = Number(fs.readFileSync(path.join(dir, "ahead"), "utf8"));
  if (said === ahead && fs.existsSync(path.join(dir, String(process.pid)))) return;
  ahead = said;
  fs.writeFileSync(path.join(dir, String(process.pid)), String(ahead));
}
look();
setInterval(look, 100).unref();
