package process

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
)

// sightings are the processes that were seen to be of a tree. One may leave the session and
// clear the mark; then a parent is all that tells whose it is, and may end before it. By
// pid, when each was born.
type sightings struct {
	mu   sync.Mutex
	born map[int]string
}

// follow takes note of what there is, before parents are ended.
func (t *Tree) follow() { t.family() }

// family lists the processes of the tree and all below them, and takes note of them.
func (t *Tree) family() []int {
	t.seen.mu.Lock()
	defer t.seen.mu.Unlock()
	inside := map[string]bool{}
	leader := ""
	if !t.recycled() {
		leader = strconv.Itoa(t.id.PID)
		inside[leader] = true
	}
	type process struct {
		pid          int
		parent, born string
	}
	var family []int
	var rest []process
	known := map[int]string{}
	for _, pid := range allPids() {
		fields := statOf(pid)
		if len(fields) <= startTime {
			if born, ok := t.seen.born[pid]; ok {
				// Where it can't be looked at it may still be there.
				known[pid] = born
			}
			continue
		}
		if fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		p := process{pid, fields[1], when(fields)}
		switch {
		case t.seen.born[pid] == p.born:
		case leader != "" && (fields[2] == leader || fields[3] == leader), t.marked(pid, fields):
		default:
			rest = append(rest, p)
			continue
		}
		inside[strconv.Itoa(pid)] = true
		family, known[pid] = append(family, pid), p.born
	}
	for grown := true; grown; {
		grown = false
		rest = slices.DeleteFunc(rest, func(p process) bool {
			if !inside[p.parent] {
				return false
			}
			inside[strconv.Itoa(p.pid)], grown = true, true
			family, known[p.pid] = append(family, p.pid), p.born
			return true
		})
	}
	t.seen.born = known
	return family
}

// marked says whether a process carries the tree's mark, as far as it can be seen now.
func (t *Tree) marked(pid int, fields []string) bool {
	if pid < t.id.PID && t.before(fields) {
		return false
	}
	environ, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(environ, []byte(t.id.Mark))
}

// has says whether a process was seen; fields are those of statOf.
func (s *sightings) has(pid int, fields []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.born[pid]
	return ok && len(fields) > startTime && when(fields) == known
}

// pids are those of all that were seen, ended ones too.
func (s *sightings) pids() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := make([]int, 0, len(s.born))
	for pid := range s.born {
		pids = append(pids, pid)
	}
	return pids
}
