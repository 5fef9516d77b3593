// Package remote reaches the podd of another machine through ssh. Dial runs
//
//	ssh HOST podctl dial-stdio
//
// and Serve is what that verb does: it joins its input and output to podd's socket. Before
// the first byte of podd, Serve writes one line, the greeting: a magic word, and a JSON
// object with the client token or with why podd cannot be reached. Whatever the other
// machine's shell writes before that line is skipped. The user's ssh configuration decides
// on keys, names and hosts; podd opens no port. Forward forwards a port of this machine too.
//
// Rank 2. A connection has one goroutine, which waits for ssh; Close waits for it.
package remote
