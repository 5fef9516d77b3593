package checkout

// Landing is a change of a branch of the source.
type Landing struct {
	// Branch is its name, Old and New its commits, Tree the working tree that has it; empty
	// without one.
	Branch string `json:"branch"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Tree   string `json:"tree,omitempty"`
}
