import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** The paths of podd's socket and client token. */
export interface Places {
  socket: string;
  token: string;
}

/**
 * places finds them as podctl does: a socket or state directory that is set, then
 * PODD_SOCKET and PODD_STATE_DIR, then the XDG directories.
 */
export function places(set: { socket?: string; stateDir?: string } = {}, env: NodeJS.ProcessEnv = process.env): Places {
  const home = env.HOME || os.homedir();
  const named = set.stateDir || env.PODD_STATE_DIR;
  const state = named || path.join(absolute(env.XDG_STATE_HOME) ?? path.join(home, ".local", "state"), "podd");
  const runtime = absolute(env.XDG_RUNTIME_DIR);
  const socket =
    set.socket ||
    env.PODD_SOCKET ||
    (named || !runtime ? path.join(state, "podd.sock") : path.join(runtime, "podd", "podd.sock"));
  return { socket, token: path.join(state, "client.token") };
}

/** An XDG variable with a relative path is ignored, as its specification says. */
function absolute(dir: string | undefined): string | undefined {
  return dir && path.isAbsolute(dir) ? dir : undefined;
}

/**
 * refusal says in one sentence why a socket is not safe to use; undefined if it is. Messages,
 * and the token among them, are only for a podd of the same user.
 */
export function refusal(socket: string): string | undefined {
  let info: fs.Stats;
  try {
    info = fs.statSync(socket);
  } catch {
    return `cannot reach podd: the socket ${socket} does not exist; start podd with "podd service install" or "podd &"`;
  }
  if (!info.isSocket()) {
    return `${socket} is not a socket: name the socket of podd`;
  }
  if (process.getuid && info.uid !== process.getuid()) {
    return `the socket ${socket} belongs to another user (uid ${info.uid}); podd serves only the user who started it`;
  }
  return undefined;
}
