package leases

import "slices"

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

// action is what a node does, or what happens to it.
type action string

const (
	starts      action = "starts"
	exits       action = "exits"
	leaseEnds   action = "has a lease that ends"
	clockGoes   action = "has a lease that lasts again, because the clock was turned back"
	renews      action = "renews its lease"
	isFenced    action = "is fenced"
	drains      action = "drains"
	stops       action = "stops"
	isRemoved   action = "is removed"
	claims      action = "claims the pod"
	sends       action = "sends a write"
	losesWrite  action = "loses a write"
	storesWrite action = "stores a write"
	moves       action = "moves the pod"
	releases    action = "releases the pod"
	takesOver   action = "takes the pod over"
	forces      action = "takes the pod over by force"
)

// event is an action of a node. pod is that of which it is one, to the place that the pod gets; bumps says that the pod's epoch changes.
type event struct {
	action
	node, pod, to int
	bumps         bool
}

// visitor gets a state that follows, and what is wrong with how it does.
type visitor func(m model, by event, wrong string)

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

// next calls visit with each state that can follow.
func (m model) next(s slip, visit visitor) {
	for n := range modelNodes {
		m.nextOfNode(s, n, visit)
		for p := range modelPods {
			m.nextOfPod(s, n, p, visit)
			m.nextOfPlace(s, n, p, visit)
		}
	}
}

func (m model) nextOfNode(s slip, n int, visit visitor) {
	do := func(a action, may bool, f func(m *model, node *modelNode)) {
		if may {
			next := m
			f(&next, &next.nodes[n])
			visit(next, event{action: a, node: n}, "")
		}
	}
	is := m.nodes[n]
	do(starts, !is.up, func(_ *model, node *modelNode) { *node = modelNode{up: true} })
	do(exits, is.up, func(m *model, _ *modelNode) { m.exit(n) })
	do(leaseEnds, is.lease == live, func(_ *model, node *modelNode) { node.lease = over })
	do(clockGoes, is.lease == over && !is.fenced, func(_ *model, node *modelNode) { node.lease = live })
	do(renews, is.up && (!is.fenced || s == renewsFenced), func(_ *model, node *modelNode) { node.lease = live })
	do(isFenced, is.lease == over || s == fencesLive && is.lease == live, func(_ *model, node *modelNode) { node.fenced = true })
	do(drains, is.up && !is.draining, func(_ *model, node *modelNode) { node.draining = true })
	do(stops, is.up && is.draining && !is.fenced, func(m *model, node *modelNode) { m.exit(n); node.lease = stopped })
	// Another node removes it.
	do(isRemoved, is.lease != live, func(m *model, node *modelNode) {
		node.fenced, node.lease = true, over
		for p := range m.pods {
			if int(m.pods[p].place) == n {
				m.pods[p].place = nowhere
				m.pods[p].bump(s)
			}
		}
	})
}

func (m model) nextOfPod(s slip, n, p int, visit visitor) {
	do := func(a action, may bool, f func(pod *modelPod) string) {
		if may {
			next := m
			wrong := f(&next.pods[p])
			visit(next, event{a, n, p, int(m.pods[p].place), a == claims && s != claimKeepsEpoch}, wrong)
		}
	}
	node, is := m.nodes[n], m.pods[p]
	// It claims the pod, and reads its log.
	do(claims, node.up && (int(is.place) == n || s == claimsElsewhere), func(pod *modelPod) string {
		if s != claimKeepsEpoch {
			pod.bump(s)
		}
		pod.has[n], pod.behind[n] = current, false
		return ""
	})
	do(sends, is.has[n] != none && is.sent[n] == none, func(pod *modelPod) string { pod.sent[n] = is.has[n]; return "" })
	// A write is lost, or arrives.
	do(losesWrite, is.sent[n] != none, func(pod *modelPod) string { pod.sent[n], pod.late[n] = none, false; return "" })
	do(storesWrite, is.sent[n] != none, func(pod *modelPod) (wrong string) {
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

func (m model) nextOfPlace(s slip, n, p int, visit visitor) {
	is, node := m.pods[p], m.nodes[n]
	place := func(a action, may bool, to int, bump bool, wrong string) {
		if may {
			next := m
			next.pods[p].place = uint8(to)
			if bump {
				next.pods[p].bump(s)
			}
			visit(next, event{a, n, p, to, bump}, wrong)
		}
	}
	for to := range modelNodes {
		// By order of a person who asks its node.
		place(moves, node.up && int(is.place) == n && to != n && m.nodes[to].answers(), to, s != movesWithEpoch, "")
	}
	heir := slices.ContainsFunc(m.nodes[:], func(o modelNode) bool { return o != node && o.answers() })
	place(releases, node.up && node.draining && int(is.place) == n && heir, nowhere, s != releasesWithEpoch, "")
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
	place(takesOver, takes && free, n, s != takesWithEpoch, wrong)
	// By force.
	if takes && is.place != nowhere && from.lease != live {
		m.nodes[is.place].fenced = true
		place(forces, true, n, s != takesWithEpoch, wrong)
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

// explore visits all states until one is wrong in a way. Nothing follows a state that is wrong in another.
func explore(s slip, sought string) (states int, wrong map[string]bool) {
	start := beginning()
	seen, wrong := map[uint64]struct{}{start.key(): {}}, map[string]bool{}
	for todo := []model{start}; len(todo) > 0 && !wrong[sought]; {
		m := todo[0]
		todo = todo[1:]
		m.next(s, func(next model, _ event, badly string) {
			if badly == "" {
				badly = next.wrong()
			}
			if badly != "" {
				wrong[badly] = true
				return
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

// beginning has no node and no pod yet.
func beginning() (m model) {
	for p := range m.pods {
		m.pods[p].place = nowhere
	}
	for n := range m.nodes {
		m.nodes[n].lease = stopped
	}
	return m
}
