// Package harden closes this process to other programs of the same user: podd's memory,
// with keys in it, gets into no core file and into no other program.
//
// Rank 0: it imports nothing of podd.
package harden
