// Package workspace has what pods work on: one directory each, with its files, tools,
// rules, skills, instructions and configuration.
//
// [Workspaces] has what they all share; a [pod.Host] gets them from it. A [Workspace]
// belongs to one loaded pod. It opens its directory when it is first needed, and again
// when the directory was moved or replaced. Its file system may hang, so reading it
// happens in a goroutine that the pod does not wait for.
package workspace
