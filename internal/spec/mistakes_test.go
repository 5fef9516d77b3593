package spec_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mistake is one that somebody could make: without is in place of old, which is once in a file. test is what has to find it: a
// simulation, or the test of a package.
type mistake struct {
	is, file, old, without, test string
}

const (
	atAnyTime   = "TestAnythingAtAnyTime"
	aroundACut  = "TestAnythingAroundACut"
	unasked     = "TestAnythingUnasked"
	mostSeeds   = 10_000
	envMistakes = "PODD_MISTAKES"
)

var mistakes = []mistake{
	{
		"acknowledge a submit before storing it", "pkg/pod/mailbox.go", "		answer, err = a.store(ctx, b)\n",
		"		answer = Submitted{RequestID: b.Admit.ID}\n		go func() { _ = m.do(a.host.base, func() { _, _ = a.store(a.host.base, b) }) }()\n", atAnyTime,
	},
	{"forget request ids", "pkg/store/append.go", "	if err != nil || !known {\n		return false, err\n	}\n	if first", "	if known = false; err != nil || !known {\n		return false, err\n	}\n	if first", atAnyTime},
	{"start a call without an entry", "pkg/worker/approve.go", "		return []item.Kind{t.started(ctx, c)}\n	}\n	why, ok", "		t.started(ctx, c)\n		return nil\n	}\n	why, ok", atAnyTime},
	{"leave taken submits in the inbox", "pkg/pod/turnlog.go", "store.Batch{Dequeue: b.Claims}", "store.Batch{}", atAnyTime},
	{"repeat a started call", "pkg/worker/resume.go", "open.Began, callRecovers", "open.Began, callRuns", atAnyTime},
	{"lose the text of a steer", "pkg/worker/claim.go", "		kinds = append(kinds, messages...)\n", "		_ = messages\n", atAnyTime},
	{"withdraw in memory only", "pkg/pod/inbox.go", "	if _, _, err := a.journal.commit(ctx, store.Batch{Entries: []item.Entry{taken}, Dequeue: []item.Seq{seq}}); err != nil {\n		return err\n	}\n", "	_ = taken\n", atAnyTime},
	{"approve another call", "pkg/pod/approval.go", "	case r.Digest != \"\" && r.Digest != q.Digest:", "	case r.Digest == \"another\":", atAnyTime},
	{"follow a clock set back", "pkg/pod/commit.go", "now.After(j.rec.Status.LastActivity)", "!now.IsZero()", atAnyTime},
	{"accept a killed podd's late write", "pkg/store/append.go", "c.batch.Epoch != c.head.epoch || c.head.epoch == 0", "c.head.epoch == 0", atAnyTime},
	{"rewind away a waiting note", "pkg/pod/rewind.go", "	for _, n := range c.waiting() {", "	for _, n := range c.waiting()[:0] {", aroundACut},
	{"share later entries with a fork", "pkg/store/fork.go", "	c.lineage = of.Fork(c.parent, h.first, c.at)\n	c.head.first, c.head.last = h.first, c.at", "	c.at = h.last\n	c.lineage = of.Fork(c.parent, h.first, c.at)\n	c.head.first, c.head.last = h.first, c.at", aroundACut},
	{"fire twice at an event", "internal/triggers/manage.go", "w.knows(ctx, t, e.ID, now); err != nil || ok {", "w.knows(ctx, t, e.ID, now); err != nil || ok && e.ID == \"\" {", unasked},
	{"leave a due time out", "internal/triggers/state.go", "!at.After(now); at = t.next(at) {", "!at.After(now); at = t.next(t.next(at)) {", unasked},
	{"take a letter twice", "internal/letters/letters.go", "rec.First-1, 0), l.Ref); err != nil || seq > 0 {", "rec.First-1, 0), l.Ref); err != nil || seq < 0 {", unasked},
	{"give up a fire whose pod is being deleted", "internal/triggers/fire.go", "	if refused {\n		_, release", "	if ctx.Err() != nil {\n		_, release", unasked},
	{"remove the pod of a trigger", "internal/subpods/background.go", "	if len(children) > 0 {\n", "	if len(children) > 1 {\n", unasked},
}

// broken are mistakes that break one invariant, which its test on the page finds: a package and a pattern of go test.
var broken = []mistake{
	{"I1", "pkg/store/append.go", "		c.head.last++\n", "		c.head.last += 2\n", "pkg/store ^TestConformance$"},
	{"I35", "internal/shell/wing.go", "append(entries, end.Job)", "append(entries, end.Job, end.Job)", "pkg/pod ^TestJobOverTurns$"},
	{"I36", "internal/files/rollback.go", "append(kinds(others), item.Restore{After: r.out.After, Pod: p.Pod.ID, Merge: r.back.Merge})...", "kinds(others)...", "cmd/podctl ^TestScript$/^undo$"},
	{"I39", "internal/letters/letters.go", "item.Seq(r.GetAfter()), l.Ref); err != nil || seq > 0 {", "item.Seq(r.GetAfter()), l.Ref); err != nil || seq < 0 {", "internal/letters ^TestRecover$"},
	{"I41", "pkg/worker/end.go", "denial(c.Name, q.Answer), true", "denial(c.Name, q.Answer), false", "pkg/pod ^TestAnsweredThenCancelled$"},
	{"I42", "pkg/pod/inbox.go", ", Dequeue: []item.Seq{seq}}", "}", "pkg/pod ^TestWithdraw$"},
}

// Each mistake can still be made: its text is in its file.
func TestMistakesApply(t *testing.T) {
	for _, m := range append(mistakes, broken...) {
		m.overlay(t)
	}
}

// The test that the page names for an invariant fails without the code that keeps it.
func TestBrokenInvariantsAreFound(t *testing.T) {
	if os.Getenv(envMistakes) == "" {
		t.Skip("builds the packages once for each: make mistakes")
	}
	for _, m := range broken {
		t.Run(m.is, func(t *testing.T) {
			pkg, run, _ := strings.Cut(m.test, " ")
			out, err := m.run(t, run, pkg)
			if err == nil || !strings.Contains(out, "--- FAIL: ") || strings.Contains(out, "[build failed]") {
				t.Errorf("%s passes without what keeps %s, or does not run: %s", m.test, m.is, out)
			}
		})
	}
}

// The simulation finds each deliberate mistake within 10,000 seeds. PODD_MISTAKES is 1 for all, or a part of one's name. It
// logs the seed.
func TestMistakesAreFound(t *testing.T) {
	which := os.Getenv(envMistakes)
	if which == "" {
		t.Skip("builds the packages once for each mistake: make mistakes")
	}
	for _, m := range mistakes {
		if which != "1" && !strings.Contains(m.is, which) {
			continue
		}
		t.Run(m.is, func(t *testing.T) {
			found, out := m.seed(t)
			if found == 0 {
				t.Fatalf("no seed finds it:\n%s", out)
			}
			t.Logf("found by seed %d", found)
		})
	}
}

// seed is the first seed that finds the mistake, 0 without one.
func (m mistake) seed(t *testing.T) (first int, out string) {
	t.Helper()
	out, _ = m.run(t, "^"+m.test+"$", "pkg/pod")
	for _, found := range regexp.MustCompile(`--- FAIL: \w+/seed(\d+)`).FindAllStringSubmatch(out, -1) {
		if n, err := strconv.Atoi(found[1]); err == nil && (first == 0 || n < first) {
			first = n
		}
	}
	return first, out
}

// run runs tests of a package with the mistake.
func (m mistake) run(t *testing.T, tests, pkg string) (out string, err error) {
	t.Helper()
	cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-timeout=60m", "-run="+tests, "./"+pkg)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "PODD_SEEDS="+strconv.Itoa(mostSeeds), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+m.overlay(t))
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// overlay makes a file for go's -overlay that has the mistake.
func (m mistake) overlay(t *testing.T) string {
	t.Helper()
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s has the text %d times: %s", m.file, n, m.old)
	}
	dir := t.TempDir()
	changed, list := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	encoded, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{changed: strings.Replace(string(text), m.old, m.without, 1), list: string(encoded)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
