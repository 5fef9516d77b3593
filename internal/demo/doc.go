// Package demo runs podd without any configuration: a real daemon in a temporary state
// directory, a scripted model over real HTTP on loopback, a pod, a submit with a file
// reference, and the turn as podctl submit -f shows it. Nothing is left behind.
package demo
