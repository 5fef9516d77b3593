// Package demo shows podd's main job with nothing to configure: a real daemon on a
// temporary state directory, a scripted model behind real HTTP on loopback, a pod,
// a submit with a file reference, and the turn as podctl submit -f shows it.
// Nothing is left behind.
package demo
