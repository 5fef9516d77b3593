// Calls to podd by this browser's device.

import { device } from "./device.js";
import * as wire from "./wire.js";

export { RpcError } from "./wire.js";

/** call makes a call. @param {string} method such as PodService/Submit @param {object} request @param {AbortSignal} [signal] */
export const call = (method, request, signal) => wire.call(method, request, signal, device);

/** stream makes a call with many answers. @param {string} method @param {object} request @param {AbortSignal} signal */
export const stream = (method, request, signal) => wire.stream(method, request, signal, device);
