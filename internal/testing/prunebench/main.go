// Command prunebench computes what the pruning modes of pkg/fold would have cost, and
// what they would have missed, in recorded sessions. It replays them through the daemon's
// own code.
//
// A trace consists of numbers: sizes, kinds and times of items, and which results the
// recorded model was still using. README.md describes input and output.
//
// Rank 3: it imports pkg/item and pkg/fold. The daemon does not contain it.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
