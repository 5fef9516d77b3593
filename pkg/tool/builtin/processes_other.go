//go:build !linux

package builtin

// members stands for the whole process group by its leader.
func (p *processes) members() []int {
	if p.groupAlive() {
		return []int{p.cmd.Process.Pid}
	}
	return nil
}

// owns is never true: the group is signalled as one.
func (p *processes) owns(int) bool { return false }
