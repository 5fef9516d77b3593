// Package workspace has what pods work on: one directory each, with its files, tools, rules,
// skills, instructions and configuration.
//
// [Workspaces] has what all of them share and is what a [pod.Host] asks for them. A
// [Workspace] is that of one loaded pod. It opens its directory when it is first needed, and
// again when the directory was moved or replaced. Its file system may hang: whatever reads it
// is called in a goroutine that the pod does not wait for.
package workspace
