package item

// Access is how much of the machine a command may reach.
type Access string

// The levels of access.
const (
	// AccessSandbox is the sandbox of the pod's commands.
	AccessSandbox Access = "sandbox"
	// AccessNetwork adds the machine's network.
	AccessNetwork Access = "network"
	// AccessHost is no sandbox. The bound on memory stays.
	AccessHost Access = "host"
)

// Accesses are all levels.
func Accesses() []Access {
	return []Access{AccessSandbox, AccessNetwork, AccessHost}
}
