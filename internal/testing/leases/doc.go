// Package leases models the leases of nodes, and holds what real nodes do to the model.
//
// The model has three nodes and two pods of one database, as internal/fleet/postgres orders them, and all interleavings of what they do. Only
// whether an epoch is the pod's last one matters, so the states are finitely many, and the tests explore them whole.
//
// A trace is what triggers in a PostgreSQL recorded while podd used it. Check explains each change by an action of the model.
package leases
