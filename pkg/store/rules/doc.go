// Package rules has what every store does alike: the errors with which it refuses a call,
// where the entries of a fork are, which alerts are equal, and the images of a batch.
package rules
