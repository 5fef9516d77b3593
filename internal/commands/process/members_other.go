//go:build !linux

package process

// members returns the leader for the whole process group.
func (t *Tree) members() []int {
	if t.groupAlive() {
		return []int{t.id.PID}
	}
	return nil
}

// owns is always false: Stop signals the group as one.
func (t *Tree) owns(int) bool { return false }

// runs is always true: what is ending is not known.
func runs(int) bool { return true }
