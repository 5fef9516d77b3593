package fleet

// Identity is a node's certificate and the authority that it trusts.
type Identity = identity

// What opens the parts of a Fleet.
var (
	LoadIdentity = loadIdentity
	NewPeers     = newPeers
	OpenShare    = openShare
)

// Routed says whether a call is sent to another node, and the pod that a request names.
func Routed(method string, req any) (routed bool, pod string) {
	to, ok := routes[method]
	return ok && to != here, PodOf(req)
}
