// Package hook lets code watch what pods do. A hook receives copies, returns
// nothing and has no effect on a turn: a panic, a hang or a slow hook costs the
// hook alone. Code that wants to decide is an interceptor (pkg/interceptor).
package hook
