// Package search finds text in the logs of pods: literal text, whatever its case, the newest
// entry first.
//
// It reads the logs and keeps nothing: what a log does not have any more can't be found, and
// nothing can be stale. A needle looks for its rarest character in the records as they are
// stored, so that few records are decoded.
package search
