// Package hook lets code observe what pods do. A hook receives copies, returns nothing
// and has no effect on a turn: a panic, a hang or a slow hook affects only the hook. Code
// that decides is an interceptor (pkg/interceptor).
package hook
