// Package interceptor lets code decide at the edges of a turn: whether a submit
// continues, whether a model request is sent, whether and with what arguments a tool call
// runs, what of its result the model sees, whether a turn may finish.
//
// The subject of a decision makes its verdicts: s.Cancel(reason) for a Submit s,
// c.Deny(reason) for a Call c. So a wrong one does not compile. An interceptor narrows
// and adds; it never permits what the scope, policy or another interceptor refused. Code
// that only observes is a hook (pkg/hook).
package interceptor
