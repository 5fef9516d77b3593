// Package nodes connects the podd that share a database: certificates, connections, and calls
// that one of them sends on to another.
//
// A node trusts a certificate of the configured authority that names a node of the database.
// Calls travel over TLS 1.3 as they came in; the node where a client entered has checked its
// user and token.
package nodes
