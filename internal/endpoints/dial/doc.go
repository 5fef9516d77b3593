// Package dial opens the model endpoints of a configuration: one client each, by its API,
// with its key, and a router of them all. A Set does not change; another configuration
// makes another Set, which takes over the clients that stay the same.
package dial
