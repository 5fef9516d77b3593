package fleet_test

import (
	"slices"
	"testing"
)

// The model of leases: three nodes and two pods of one database, as internal/fleet/postgres orders them, and all interleavings of what
// they do. Only whether an epoch is the pod's last one matters, so the states are finitely many, and are explored whole.

const (
	modelNodes, modelPods = 3, 2
	// nowhere is the place of a pod that no node has.
	nowhere = modelNodes
)

// held is the epoch that a process has of a pod, or that a write on its way has.
type held uint8

const (
	none held = iota
	stale
	current
)

type leaseState uint8

const (
	live leaseState = iota
	over
	stopped
)

type modelNode struct {
	// up says that its process runs, fenced that the database does not know that run any more.
	up, fenced, draining bool
	lease                leaseState
}

type modelPod struct {
	place uint8
	// has are the epochs of the processes, sent those of writes that have not reached the database, also of processes that ended.
	has, sent [modelNodes]held
	// late says that a write is that of a process that has ended, behind that a process has not read all that is stored.
	late, behind [modelNodes]bool
}

type model struct {
	nodes [modelNodes]modelNode
	pods  [modelPods]modelPod
}

// slip is a mistake in the protocol; the zero slip is none.
type slip int

const (
	appendsStale slip = iota + 1
	claimsElsewhere
	claimKeepsEpoch
	takesWithEpoch
	movesWithEpoch
	releasesWithEpoch
	fencesLive
	renewsFenced
	takesWithoutLease
)

// slips are all, with the invariant that each breaks.
var slips = map[slip]struct{ is, breaks string }{
	appendsStale:      {"a write is stored whatever its epoch", notOwned},
	claimsElsewhere:   {"a node claims a pod that it does not have", writesElsewhere},
	claimKeepsEpoch:   {"a claim keeps the epoch", writesBehind},
	takesWithEpoch:    {"a takeover keeps the epoch", writesElsewhere},
	movesWithEpoch:    {"a move keeps the epoch", writesElsewhere},
	releasesWithEpoch: {"a node that stops gives up its pods with their epoch", writesElsewhere},
	fencesLive:        {"a fence does not look whether the lease is over", takesLive},
	renewsFenced:      {"a fenced node renews its lease", takesLive},
	takesWithoutLease: {"a node takes pods without a lease of its own", takesUnleased},
}

// The invariants.
const (
	notOwned        = "a write is stored of a node that does not have the pod"
	writesElsewhere = "a node may write that does not have the pod"
	writesBehind    = "a node may write that has not read all that is stored"
	takesLive       = "a pod is taken from a node whose lease lasts"
	takesUnleased   = "a node without a lease takes a pod"
)

// bump makes the epoch of a pod another one. The database refuses what has an earlier one, so that is as good as none.
func (p *modelPod) bump(s slip) {
	earlier := none
	if s == appendsStale {
		earlier = stale
	}
	for n := range modelNodes {
		p.has[n], p.sent[n] = min(p.has[n], earlier), min(p.sent[n], earlier)
		p.late[n] = p.late[n] && p.sent[n] != none
	}
}

// exit ends the process of a node. Its writes may arrive later.
func (m *model) exit(n int) {
	m.nodes[n].up, m.nodes[n].draining = false, false
	for p := range m.pods {
		pod := &m.pods[p]
		pod.has[n], pod.behind[n], pod.late[n] = none, false, pod.sent[n] != none
	}
}

// answers says that a node can get pods.
func (n *modelNode) answers() bool { return n.lease == live && !n.fenced && !n.draining }

// next calls visit with each state that can follow, and what is wrong with how it does.
func (m model) next(s slip, visit func(m model, wrong string)) {
	for n := range modelNodes {
		m.nextOfNode(s, n, visit)
		for p := range modelPods {
			m.nextOfPod(s, n, p, visit)
			m.nextOfPlace(s, n, p, visit)
		}
	}
}

func (m model) nextOfNode(s slip, n int, visit func(model, string)) {
	do := func(may bool, f func(m *model, node *modelNode)) {
		if may {
			next := m
			f(&next, &next.nodes[n])
			visit(next, "")
		}
	}
	is := m.nodes[n]
	do(!is.up, func(_ *model, node *modelNode) { *node = modelNode{up: true} })
	do(is.up, func(m *model, _ *modelNode) { m.exit(n) })
	do(is.lease == live, func(_ *model, node *modelNode) { node.lease = over })
	do(is.up && (!is.fenced || s == renewsFenced), func(_ *model, node *modelNode) { node.lease = live })
	do(is.lease == over || s == fencesLive && is.lease == live, func(_ *model, node *modelNode) { node.fenced = true })
	do(is.up && !is.draining, func(_ *model, node *modelNode) { node.draining = true })
	do(is.up && is.draining && !is.fenced, func(m *model, node *modelNode) { m.exit(n); node.lease = stopped })
	// Another node removes it.
	do(is.lease != live, func(m *model, node *modelNode) {
		node.fenced, node.lease = true, over
		for p := range m.pods {
			if int(m.pods[p].place) == n {
				m.pods[p].place = nowhere
				m.pods[p].bump(s)
			}
		}
	})
}

func (m model) nextOfPod(s slip, n, p int, visit func(model, string)) {
	do := func(may bool, f func(pod *modelPod) string) {
		if may {
			next := m
			wrong := f(&next.pods[p])
			visit(next, wrong)
		}
	}
	node, is := m.nodes[n], m.pods[p]
	// It claims the pod, and reads its log.
	do(node.up && is.has[n] != current && (int(is.place) == n || s == claimsElsewhere), func(pod *modelPod) string {
		if s != claimKeepsEpoch {
			pod.bump(s)
		}
		pod.has[n], pod.behind[n] = current, false
		return ""
	})
	do(is.has[n] != none && is.sent[n] == none, func(pod *modelPod) string { pod.sent[n] = is.has[n]; return "" })
	// A write is lost, or arrives.
	do(is.sent[n] != none, func(pod *modelPod) string { pod.sent[n], pod.late[n] = none, false; return "" })
	do(is.sent[n] != none, func(pod *modelPod) (wrong string) {
		pod.sent[n], pod.late[n] = none, false
		if int(is.place) != n {
			wrong = notOwned
		}
		for other := range modelNodes {
			pod.behind[other] = pod.behind[other] || pod.has[other] == current && (other != n || is.late[n] || is.sent[n] == stale)
		}
		return wrong
	})
}

func (m model) nextOfPlace(s slip, n, p int, visit func(model, string)) {
	is, node := m.pods[p], m.nodes[n]
	moves := func(may bool, to int, bump bool, wrong string) {
		if may {
			next := m
			next.pods[p].place = uint8(to)
			if bump {
				next.pods[p].bump(s)
			}
			visit(next, wrong)
		}
	}
	for to := range modelNodes {
		// By order of a person who asks its node.
		moves(node.up && int(is.place) == n && to != n && m.nodes[to].answers(), to, s != movesWithEpoch, "")
	}
	heir := slices.ContainsFunc(m.nodes[:], func(o modelNode) bool { return o != node && o.answers() })
	moves(node.up && node.draining && int(is.place) == n && heir, nowhere, s != releasesWithEpoch, "")
	if int(is.place) == n {
		return
	}
	var from modelNode
	if is.place != nowhere {
		from = m.nodes[is.place]
	}
	wrong := ""
	switch {
	case is.place != nowhere && from.lease == live:
		wrong = takesLive
	case !node.answers():
		wrong = takesUnleased
	}
	free := is.place == nowhere || from.fenced || from.lease == stopped
	takes := node.up && (node.answers() || s == takesWithoutLease)
	moves(takes && free, n, s != takesWithEpoch, wrong)
	// By force.
	if takes && is.place != nowhere && from.lease != live {
		m.nodes[is.place].fenced = true
		moves(true, n, s != takesWithEpoch, wrong)
	}
}

// wrong says which invariant a state breaks.
func (m *model) wrong() string {
	for _, p := range m.pods {
		for n := range modelNodes {
			switch {
			case (p.has[n] == current || p.sent[n] == current) && int(p.place) != n:
				return writesElsewhere
			case p.has[n] == current && p.behind[n]:
				return writesBehind
			}
		}
	}
	return ""
}

// canonical is the same for states that differ in the order of nodes and pods alone.
func (m model) canonical() model {
	least, first := m, true
	for _, order := range [][modelNodes]uint8{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		var other model
		for i, n := range order {
			other.nodes[i] = m.nodes[n]
			for p, pod := range m.pods {
				to := &other.pods[p]
				to.has[i], to.sent[i], to.late[i], to.behind[i] = pod.has[n], pod.sent[n], pod.late[n], pod.behind[n]
				if pod.place == n {
					to.place = uint8(i)
				} else if pod.place == nowhere {
					to.place = nowhere
				}
			}
		}
		if other.pods[1].key() < other.pods[0].key() {
			other.pods[0], other.pods[1] = other.pods[1], other.pods[0]
		}
		if first || other.key() < least.key() {
			least, first = other, false
		}
	}
	return least
}

func (p *modelPod) key() (k uint64) {
	k = uint64(p.place)
	for n := range modelNodes {
		k = k<<6 | uint64(p.has[n])<<4 | uint64(p.sent[n])<<2 | bit(p.late[n])<<1 | bit(p.behind[n])
	}
	return k
}

// key is another for each state.
func (m *model) key() uint64 {
	k := m.pods[0].key()<<20 | m.pods[1].key()
	for _, n := range m.nodes {
		k = k<<5 | uint64(n.lease)<<3 | bit(n.up)<<2 | bit(n.fenced)<<1 | bit(n.draining)
	}
	return k
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// explore visits all states until one is wrong.
func explore(s slip) (states int, wrong string) {
	start := model{}
	for p := range start.pods {
		start.pods[p].place = nowhere
	}
	for n := range start.nodes {
		start.nodes[n] = modelNode{lease: stopped}
	}
	seen := map[uint64]struct{}{start.key(): {}}
	for todo := []model{start}; len(todo) > 0 && wrong == ""; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		m.next(s, func(next model, badly string) {
			if badly == "" {
				badly = next.wrong()
			}
			if wrong == "" {
				wrong = badly
			}
			if _, known := seen[next.key()]; known {
				return
			}
			next = next.canonical()
			if _, known := seen[next.key()]; !known {
				seen[next.key()] = struct{}{}
				todo = append(todo, next)
			}
		})
	}
	return len(seen), wrong
}

// In all interleavings of claims, writes, renewals, fences, moves, takeovers, stops and kills, only the node that has a pod writes, once it
// has read all that is stored, and takes a pod with a lease of its own from a node without one.
func TestModelOfLeases(t *testing.T) {
	states, wrong := explore(0)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d states of %d nodes and %d pods, up to their order", states, modelNodes, modelPods)
}

// The model finds each mistake in the protocol.
func TestSlipsInTheModelOfLeases(t *testing.T) {
	for s, c := range slips {
		if _, wrong := explore(s); wrong != c.breaks {
			t.Errorf("%s: %q, want %q", c.is, wrong, c.breaks)
		}
	}
}
