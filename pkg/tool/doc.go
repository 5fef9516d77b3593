// Package tool defines tools: a tool is a typed function whose JSON Schema comes from its
// Go argument type, whose arguments are decoded strictly, and whose output is a summary
// that stays in the context and a content that may be pruned from it.
//
// New makes a tool from a function, Registry has those of one pod in a fixed order, and
// Limits is the one place that cuts outputs to size, whatever tool they come from. The
// built-in tools are in internal/tools/builtin and internal/shell.
package tool
