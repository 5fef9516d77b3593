// Package search finds text in the logs of pods: literal text, whatever its case, the newest
// entry first.
//
// It reads the logs and keeps no index: what a log does not have any more can't be found, and
// nothing can be stale. An index would take an eighth of the disk, and would have to follow
// purges, deletions, backups and kills. A search reads the newest ranges first, each from its
// beginning, on two threads, and stops at the limit. A needle looks for its rarest character in
// the records as they are
// stored, so that few records are decoded.
package search
