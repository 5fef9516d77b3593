//go:build !linux

package process

// members stands for the whole process group by its leader.
func (t *Tree) members() []int {
	if t.groupAlive() {
		return []int{t.id.PID}
	}
	return nil
}

// owns is never true: the group is signalled as one.
func (t *Tree) owns(int) bool { return false }
