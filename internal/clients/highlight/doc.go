// Package highlight divides code into tokens: comments, strings, keywords and numbers. It
// knows families of languages rather than languages, so that it costs nothing at the start
// of a program, and it guesses wrong at times: the text of the tokens is always that of the
// code. chroma, the usual library, registers 300 languages in its init: every verb of podctl
// would start 8 ms later.
//
// Rank 0, pure.
package highlight
