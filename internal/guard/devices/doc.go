// Package devices decides what browsers may do: which are paired, with which scope, and which
// bearer is theirs.
//
// To be paired, a browser sends the code, its public key and the SHA-256 of a random number. podd
// answers with a random number of its own, then the browser reveals its own. Both sides show six
// digits of a hash over code, numbers and key, and the person compares them. Each side is bound
// before it learns the other's number: whoever swaps the key has one try to make six digits fit. A
// second browser with the same code ends the pairing. Only TLS helps against a page that was
// itself exchanged.
//
// Rank 2. It starts no goroutine.
package devices
