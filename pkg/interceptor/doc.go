// Package interceptor lets code decide at the edges of a turn: whether a submit
// goes on, what is added to it, whether a tool call may run, whether a turn may
// finish.
//
// A verdict is a value made by a constructor, so that a wrong one does not
// compile. An interceptor narrows and adds; it never widens what the scope or
// another interceptor refused. Code that only wants to watch is a hook
// (pkg/hook).
package interceptor
